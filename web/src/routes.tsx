import { createRouter } from "@tanstack/react-router";
import { jobParts } from "~/jobs/parts";
import * as account from "~/pages/account/routes";
import * as admin from "~/pages/admin/routes";
import * as bookmarks from "~/pages/bookmarks/routes";
import * as deadLetters from "~/pages/dead-letters/routes";
import * as home from "~/pages/home/routes";
import * as jobs from "~/pages/jobs/routes";
import * as ops from "~/pages/ops/routes";
import * as pending from "~/pages/pending/routes";
import * as pipeline from "~/pages/pipeline/routes";
import * as save from "~/pages/save/routes";
import * as sheets from "~/pages/sheets/routes";
import { things } from "~/shell/things";
import { Trouble } from "~/shell/trouble";
import { root } from "./root";
import { rail } from "./whole";

/** Every folder of pages: its routes, its entries in the rail in this order, its parts of the page of a job,
 * and the pages of things that are found. A new
 * folder is added here. */
const routeTree = root.addChildren([
  ...home.routes,
  ...save.routes,
  ...bookmarks.routes,
  ...sheets.routes,
  ...pipeline.routes,
  ...jobs.routes,
  ...pending.routes,
  ...deadLetters.routes,
  ...ops.routes,
  ...admin.routes,
  ...account.routes,
]);

rail.set([
  ...home.rail,
  ...bookmarks.rail,
  ...sheets.rail,
  ...jobs.rail,
  ...pending.rail,
  ...deadLetters.rail,
  ...ops.rail,
  ...admin.rail,
]);

jobParts.set([sheets.jobParts]);
things.set({ ...jobs.things, ...bookmarks.things, ...sheets.things });

export const router = createRouter({
  routeTree,
  defaultPreload: "intent",
  defaultPreloadStaleTime: 0, // the query cache decides
  scrollRestoration: true,
  defaultErrorComponent: ({ error }) => (
    <Trouble error={error} what="This page" onRetry={() => void router.invalidate()} />
  ),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
