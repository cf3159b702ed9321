import { createRootRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appQuery } from "~/api/app";
import { csrfToken, queryClient } from "~/api/client";
import { signedIn } from "~/api/session";
import { Whole } from "./whole";

/** The root of all routes: it knows who is signed in before any page is shown. */
export const root = createRootRoute({
  beforeLoad: async () => {
    // Without its cookie there is no session: to ask would only be an error in the console.
    if (!csrfToken()) await signedIn();
    await queryClient.ensureQueryData(appQuery);
  },
  component: Whole,
  errorComponent: lazyRouteComponent(() => import("~/shell/unreachable")),
  notFoundComponent: lazyRouteComponent(() => import("~/pages/not-found/index")),
});
