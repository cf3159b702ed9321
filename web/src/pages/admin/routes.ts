import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { Shield } from "lucide-react";
import { root } from "~/root";
import { flag, search, text } from "~/search";
import type { RailEntry } from "~/shell/rail";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/admin",
    component: lazyRouteComponent(() => import("./index")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/admin/users",
    component: lazyRouteComponent(() => import("./users")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/admin/invitations",
    component: lazyRouteComponent(() => import("./invitations")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/admin/owners",
    validateSearch: search({ q: text }),
    component: lazyRouteComponent(() => import("./owners")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/admin/settings",
    validateSearch: search({ q: text, changed: flag }),
    component: lazyRouteComponent(() => import("./settings")),
  }),
] as const;

export const rail: RailEntry[] = [
  { to: "/admin", title: "Administration", icon: Shield, section: "operations", isAdmin: true },
];
