import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { Table2 } from "lucide-react";
import { lazy } from "react";
import { JOB_SEARCH } from "~/jobs/job-search";
import type { JobParts } from "~/jobs/parts";
import { root } from "~/root";
import { search, text } from "~/search";
import type { RailEntry } from "~/shell/rail";

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
    validateSearch: search(JOB_SEARCH),
    component: lazyRouteComponent(() => import("./sheet")),
  }),
] as const;

export const rail: RailEntry[] = [
  { to: "/sheets", title: "Sheets", icon: Table2, key: "s", section: "content", package: "sheets", isMain: true },
];

export const jobParts: JobParts = {
  pipelines: ["sheets", "sheet_images", "catalogue_rows"],
  tabs: [
    {
      key: "grid",
      label: "Grid",
      after: "overview",
      isWide: true,
      Content: lazy(() => import("./sheet-grid").then(({ SheetGrid }) => ({ default: SheetGrid }))),
    },
    {
      key: "exports",
      label: "Exports",
      after: "timeline",
      Content: lazy(() => import("./exports").then(({ Exports }) => ({ default: Exports }))),
    },
  ],
  page: { label: "Sheet", to: (jobId) => `/sheets/${jobId}` },
};

export const things = { sheet: (id: string) => `/sheets/${id}` };
