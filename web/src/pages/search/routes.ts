import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { root } from "~/root";
import { oneOf, search, text } from "~/search";
import type { RailEntry } from "~/shell/rail";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/search",
    validateSearch: search({
      q: text,
      kind: text,
      mode: oneOf("words", "meaning"),
      tag: text,
      since: text,
      until: text,
      like: text,
    }),
    component: lazyRouteComponent(() => import("./index")),
  }),
] as const;

export const rail: RailEntry[] = [
  { to: "/search", title: "Search", icon: Search, key: "f", section: "content", order: 1 },
];
