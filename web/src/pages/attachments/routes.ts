import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { Paperclip } from "lucide-react";
import { root } from "~/root";
import { oneOf, search, text } from "~/search";
import type { RailEntry } from "~/shell/rail";

export const routes = [
  createRoute({
    getParentRoute: () => root,
    path: "/attachments",
    validateSearch: search({ q: text, status: oneOf("PENDING", "DOWNLOADED", "FAILED"), source: text }),
    component: lazyRouteComponent(() => import("./list")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/attachments/deliveries",
    validateSearch: search({
      verdict: oneOf("ACCEPTED", "DUPLICATE", "IGNORED", "CHALLENGE", "REJECTED"),
      source: text,
    }),
    component: lazyRouteComponent(() => import("./deliveries")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/attachments/status",
    component: lazyRouteComponent(() => import("./status")),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/attachments/$id",
    component: lazyRouteComponent(() => import("./instance")),
  }),
] as const;

export const rail: RailEntry[] = [
  {
    to: "/attachments",
    title: "Attachments",
    icon: Paperclip,
    key: "a",
    section: "content",
    package: "attachments",
  },
];

export const things = { attachment: (id: string) => `/attachments/${id}` };
