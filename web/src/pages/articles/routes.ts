import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { NotebookPen } from "lucide-react";
import { root } from "~/root";
import { oneOf, search, someOf, text, whole } from "~/search";
import type { RailEntry } from "~/shell/rail";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/articles",
    validateSearch: search({ state: someOf("fresh", "stale", "waiting", "failed", "off") }),
    component: lazyRouteComponent(() => import("./list")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/articles/new",
    validateSearch: search({ draft: text }),
    component: lazyRouteComponent(() => import("./new")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/articles/import",
    component: lazyRouteComponent(() => import("./import")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/articles/embeddings",
    validateSearch: search({ status: someOf("pending", "processing", "completed", "failed") }),
    component: lazyRouteComponent(() => import("./embeddings")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/articles/$id",
    validateSearch: search({ tab: oneOf("edit", "versions"), version: whole }),
    component: lazyRouteComponent(() => import("./article")),
  }),
] as const;

export const rail: RailEntry[] = [
  { to: "/articles", title: "Articles", icon: NotebookPen, key: "r", section: "content", package: "articles" },
];

export const things = { article: (id: string) => `/articles/${id}` };
