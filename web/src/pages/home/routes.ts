import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { House } from "lucide-react";
import { root } from "~/root";
import type { RailEntry } from "~/shell/rail";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/",
    component: lazyRouteComponent(() => import("./index")),
  }),
] as const;

export const rail: RailEntry[] = [
  { to: "/", title: "Home", icon: House, key: "h", section: "content", order: 0, isMain: true },
];
