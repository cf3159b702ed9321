import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { Table2 } from "lucide-react";
import { root } from "~/root";
import { search, text, texts, whole } from "~/search";
import type { RailEntry } from "~/shell/rail";
import { showInterrupted } from "~/uploads/interrupted";

showInterrupted();

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/sheets",
    component: lazyRouteComponent(() => import("./list")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/sheets/new",
    validateSearch: search({ job: text }),
    component: lazyRouteComponent(() => import("./new")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/sheets/catalogues",
    component: lazyRouteComponent(() => import("./catalogues")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/sheets/providers",
    component: lazyRouteComponent(() => import("./providers")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/sheets/sources",
    component: lazyRouteComponent(() => import("./sources")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/sheets/$jobId",
    validateSearch: search({ tab: text, status: texts, q: text, row: whole }),
    component: lazyRouteComponent(() => import("./sheet")),
  }),
] as const;

export const rail: RailEntry[] = [
  { to: "/sheets", title: "Sheets", icon: Table2, key: "s", section: "content", package: "sheets", isMain: true },
];
