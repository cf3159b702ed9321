import type { Provider } from "~/api/sheets";
import { duration } from "~/format";

/** Whether a provider can be asked, and if not, why and how long. */
export function stateWords({ state, closedBecause, closedSeconds }: Provider): string {
  if (state === "closed") return `closed for ${duration(closedSeconds)}: ${closedBecause ?? "it does not answer"}`;
  return { open: "open", unused: "not asked yet", disabled: "switched off" }[state];
}
