import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { Bookmark } from "lucide-react";
import { root } from "~/root";
import { flag, oneOf, search, someOf, text, texts } from "~/search";
import type { RailEntry } from "~/shell/rail";

const tab = oneOf("read", "picture", "facts", "history", "steps");

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/bookmarks",
    validateSearch: search({
      view: oneOf("cards", "list", "table"),
      q: text,
      tag: texts,
      category: text,
      site: texts,
      kind: someOf("page", "pdf", "image", "file", "login", "captcha", "error"),
      status: someOf("PENDING", "PROCESSING", "DONE", "ERROR", "NOT_FOUND", "SKIPPED"),
      archived: flag,
      duplicates: flag,
      sort: oneOf("oldest"),
      open: text,
      tab,
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
    validateSearch: search({ tab }),
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

export const things = {
  bookmark: (id: string) => `/bookmarks/${id}`,
  tag: (tag: string) => `/bookmarks?tag=${encodeURIComponent(JSON.stringify([tag]))}`,
};
