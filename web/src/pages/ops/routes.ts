import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { Activity } from "lucide-react";
import { adminOnly } from "~/api/app";
import { root } from "~/root";
import { flag, search, text } from "~/search";
import type { RailEntry } from "~/shell/rail";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/ops",
    validateSearch: search({ table: flag, from: text, to: text }),
    component: lazyRouteComponent(() => import("./health")),
  }),
  createRoute({
    getParentRoute: () => root,
    beforeLoad: adminOnly,
    path: "/ops/flow",
    validateSearch: search({ pipeline: text, table: flag, at: text }),
    component: lazyRouteComponent(() => import("./flow")),
  }),
  createRoute({
    getParentRoute: () => root,
    beforeLoad: adminOnly,
    path: "/ops/pipelines/$name",
    component: lazyRouteComponent(() => import("./pipeline")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ops/queues",
    component: lazyRouteComponent(() => import("./queues")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ops/lanes",
    component: lazyRouteComponent(() => import("./lanes")),
  }),
  createRoute({
    getParentRoute: () => root,
    beforeLoad: adminOnly,
    path: "/ops/workers",
    component: lazyRouteComponent(() => import("./workers")),
  }),
  createRoute({
    getParentRoute: () => root,
    beforeLoad: adminOnly,
    path: "/ops/workers/$name",
    component: lazyRouteComponent(() => import("./worker")),
  }),
  createRoute({
    getParentRoute: () => root,
    beforeLoad: adminOnly,
    path: "/ops/controllers",
    validateSearch: search({ table: flag }),
    component: lazyRouteComponent(() => import("./controllers")),
  }),
  createRoute({
    getParentRoute: () => root,
    beforeLoad: adminOnly,
    path: "/ops/limits",
    component: lazyRouteComponent(() => import("./limits")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ops/schedules",
    component: lazyRouteComponent(() => import("./schedules")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ops/attempts",
    validateSearch: search({
      outcome: text,
      step: text,
      worker: text,
      from: text,
      to: text,
      class: text,
    }),
    component: lazyRouteComponent(() => import("./attempts")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ops/audit",
    validateSearch: search({ actor: text, action: text, from: text, to: text }),
    component: lazyRouteComponent(() => import("./audit")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/ops/storage",
    component: lazyRouteComponent(() => import("./storage")),
  }),
] as const;

export const rail: RailEntry[] = [
  { to: "/ops", title: "Operations", icon: Activity, key: "o", section: "operations", order: 0 },
];
