import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { Shield } from "lucide-react";
import { adminOnly } from "~/api/app";
import { root } from "~/root";
import { flag, search, text } from "~/search";
import type { RailEntry } from "~/shell/rail";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    beforeLoad: adminOnly,
    path: "/admin",
    component: lazyRouteComponent(() => import("./index")),
  }),
  createRoute({
    getParentRoute: () => root,
    beforeLoad: adminOnly,
    path: "/admin/users",
    component: lazyRouteComponent(() => import("./users")),
  }),
  createRoute({
    getParentRoute: () => root,
    beforeLoad: adminOnly,
    path: "/admin/invitations",
    component: lazyRouteComponent(() => import("./invitations")),
  }),
  createRoute({
    getParentRoute: () => root,
    beforeLoad: adminOnly,
    path: "/admin/owners",
    validateSearch: search({ q: text }),
    component: lazyRouteComponent(() => import("./owners")),
  }),
  createRoute({
    getParentRoute: () => root,
    beforeLoad: adminOnly,
    path: "/admin/settings",
    validateSearch: search({ q: text, changed: flag }),
    component: lazyRouteComponent(() => import("./settings")),
  }),
] as const;

export const rail: RailEntry[] = [
  { to: "/admin", title: "Administration", icon: Shield, section: "operations", order: 1, isAdmin: true },
];
