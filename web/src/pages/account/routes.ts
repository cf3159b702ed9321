import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "~/root";
import { search, text } from "~/search";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/account",
    validateSearch: search({ tab: text }),
    component: lazyRouteComponent(() => import("./index")),
  }),
] as const;
