import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "~/root";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/pipelines/$name",
    component: lazyRouteComponent(() => import("./pipeline")),
  }),
] as const;
