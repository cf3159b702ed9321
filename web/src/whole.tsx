import { useEffect } from "react";
import { useTrackedJobs } from "~/jobs/tracked";
import { Frame } from "~/shell/frame";
import type { RailEntry } from "~/shell/rail";
import { Store, useStore } from "~/shell/store";
import { begun } from "~/uploads/memory";

/** The rail's entries come from the folders of pages, which routes.tsx collects. */
export const rail = new Store<RailEntry[]>([]);

export function Whole() {
  useTrackedJobs();
  useEffect(() => {
    if (begun().length > 0) void import("~/uploads/interrupted").then(({ showInterrupted }) => showInterrupted());
  }, []);
  return <Frame rail={useStore(rail)} />;
}
