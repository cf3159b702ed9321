import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { Clapperboard } from "lucide-react";
import { root } from "~/root";
import { search, someOf, text, whole } from "~/search";
import type { RailEntry } from "~/shell/rail";
import { KINDS, STATES } from "./kinds";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/media",
    validateSearch: search({ q: text, kind: someOf(...KINDS), state: someOf(...STATES) }),
    component: lazyRouteComponent(() => import("./list")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/media/$id",
    // The second to begin at, as a hit in a transcript has it.
    validateSearch: search({ t: whole, q: text }),
    component: lazyRouteComponent(() => import("./share")),
  }),
] as const;

export const rail: RailEntry[] = [
  { to: "/media", title: "Media", icon: Clapperboard, key: "m", section: "content", package: "media" },
];

export const things = { share: (id: string) => `/media/${id}` };
