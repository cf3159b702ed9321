import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "~/root";
import { search, text, whole } from "~/search";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/save",
    validateSearch: search({ url: text, title: text, text: text, files: whole }),
    component: lazyRouteComponent(() => import("./index")),
  }),
] as const;
