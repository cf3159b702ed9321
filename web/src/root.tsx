import { createRootRoute, lazyRouteComponent } from "@tanstack/react-router";
import { appQuery } from "~/api/app";
import { queryClient } from "~/api/client";
import { Whole } from "./whole";

/** The root of all routes: it knows who is signed in before any page is shown. */
export const root = createRootRoute({
  beforeLoad: () => queryClient.ensureQueryData(appQuery).then(() => undefined),
  component: Whole,
  notFoundComponent: lazyRouteComponent(() => import("~/pages/not-found/index")),
});
