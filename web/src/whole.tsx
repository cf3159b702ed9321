import { useEffect } from "react";
import { useApp } from "~/api/app";
import { useTrackedJobs } from "~/jobs/tracked";
import { Frame } from "~/shell/frame";
import type { RailEntry } from "~/shell/rail";
import { Store, useStore } from "~/shell/store";
import { begun } from "~/uploads/memory";

/** The rail's entries come from the folders of pages. */
export const rail = new Store<RailEntry[]>([]);

export function Whole() {
  const { me } = useApp();
  useTrackedJobs();
  useEffect(() => {
    let stop: (() => void) | undefined;
    void import("~/shell/preferences").then(({ follow }) => {
      stop = follow(me.name);
    });
    return () => stop?.();
  }, [me.name]);
  useEffect(() => {
    if (begun().length > 0) void import("~/uploads/interrupted").then(({ showInterrupted }) => showInterrupted());
  }, []);
  return <Frame rail={useStore(rail)} />;
}
