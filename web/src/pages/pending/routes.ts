import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { Hourglass } from "lucide-react";
import { root } from "~/root";
import { search, text, texts } from "~/search";
import type { RailEntry } from "~/shell/rail";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/pending",
    validateSearch: search({ status: texts, pipeline: text, job: text, from: text, to: text, owner: text, item: text }),
    component: lazyRouteComponent(() => import("./index")),
  }),
] as const;

export const rail: RailEntry[] = [
  { to: "/pending", title: "Pending", icon: Hourglass, key: "p", section: "work", order: 1, feature: "pending" },
];
