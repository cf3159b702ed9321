import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { CircleAlert } from "lucide-react";
import { root } from "~/root";
import { oneOf, search, text, textOrEmpty } from "~/search";
import type { RailEntry } from "~/shell/rail";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/dead-letters",
    validateSearch: search({
      by: oneOf("reason", "step", "class"),
      class: textOrEmpty,
      pipeline: text,
      reason: textOrEmpty,
      step: text,
      owner: text,
      item: text,
    }),
    component: lazyRouteComponent(() => import("./index")),
  }),
] as const;

export const rail: RailEntry[] = [
  { to: "/dead-letters", title: "Dead letters", icon: CircleAlert, key: "d", section: "work", order: 2 },
];
