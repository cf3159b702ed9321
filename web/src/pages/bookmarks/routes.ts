import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { Bookmark } from "lucide-react";
import { root } from "~/root";
import { oneOf, search, text, texts } from "~/search";
import type { RailEntry } from "~/shell/rail";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/bookmarks",
    validateSearch: search({
      view: oneOf("cards", "list", "table"),
      q: text,
      tag: texts,
      category: text,
      site: text,
      kind: text,
      status: text,
      sort: text,
    }),
    component: lazyRouteComponent(() => import("./list")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/bookmarks/import",
    component: lazyRouteComponent(() => import("./import")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/bookmarks/tags",
    component: lazyRouteComponent(() => import("./tags")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/bookmarks/trash",
    component: lazyRouteComponent(() => import("./trash")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/bookmarks/$id",
    validateSearch: search({ tab: oneOf("read", "picture", "facts", "history", "steps") }),
    component: lazyRouteComponent(() => import("./bookmark")),
  }),
] as const;

export const rail: RailEntry[] = [
  {
    to: "/bookmarks",
    title: "Bookmarks",
    icon: Bookmark,
    key: "b",
    section: "content",
    package: "bookmarks",
    isMain: true,
  },
];
