import { createRouter } from "@tanstack/react-router";
import { jobParts } from "~/jobs/parts";
import { folders, routes } from "~/pages/all";
import { things } from "~/shell/things";
import { Trouble } from "~/shell/trouble";
import { root } from "./root";
import { rail } from "./whole";

const routeTree = root.addChildren(routes);

rail.set(folders.flatMap((folder) => folder.rail ?? []));
jobParts.set(folders.flatMap((folder) => folder.jobParts ?? []));
things.set(Object.assign({}, ...folders.map((folder) => folder.things)));

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
