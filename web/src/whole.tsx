import { Frame } from "~/shell/frame";
import type { RailEntry } from "~/shell/rail";
import { Store, useStore } from "~/shell/store";

/** The rail's entries come from the folders of pages, which routes.tsx collects. */
export const rail = new Store<RailEntry[]>([]);

export function Whole() {
  return <Frame rail={useStore(rail)} />;
}
