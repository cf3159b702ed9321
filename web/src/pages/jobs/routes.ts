import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { ListChecks } from "lucide-react";
import { JOB_SEARCH } from "~/jobs/job-search";
import { root } from "~/root";
import { flag, search, text, texts } from "~/search";
import type { RailEntry } from "~/shell/rail";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/jobs",
    validateSearch: search({ state: texts, pipeline: texts, from: text, to: text, q: text, owner: text, each: flag }),
    component: lazyRouteComponent(() => import("./list")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/jobs/$jobId",
    validateSearch: search(JOB_SEARCH),
    component: lazyRouteComponent(() => import("./job")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/jobs/$jobId/items/$n",
    validateSearch: search({ tab: text }),
    component: lazyRouteComponent(() => import("./item")),
  }),
] as const;

export const rail: RailEntry[] = [
  { to: "/jobs", title: "Jobs", icon: ListChecks, key: "j", section: "work", order: 0, isMain: true },
];

export const things = { job: (id: string) => `/jobs/${id}` };
