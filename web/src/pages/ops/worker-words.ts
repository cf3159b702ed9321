import type { Worker } from "~/api/ops";
import { duration } from "~/format";
import type { StatusName } from "~/words";

interface Said {
  status: StatusName;
  word: string;
}

/** The state of a worker in a word. */
export function workerState(worker: Pick<Worker, "isRunning" | "stuck" | "inFlight">): Said {
  if (!worker.isRunning) return { status: "EXPIRED", word: "Vanished" };
  if (worker.stuck) return { status: "ERROR", word: "Stuck" };
  return worker.inFlight > 0 ? { status: "RUNNING", word: "Works" } : { status: "WAITING", word: "Idle" };
}

/** Why a worker claims less than it could; nothing if it does not. */
export function whyLess({ share, load, freeMemory, lagMs }: Worker["machine"]): string | undefined {
  if (share === null || share === undefined || share >= 0.995) return undefined;
  const reasons = [
    load !== null && load !== undefined && load > 1 && `${load.toFixed(1)} processes wait for each core`,
    freeMemory !== null && freeMemory !== undefined && freeMemory < 0.2 && `${percent(freeMemory)} of memory is free`,
    lagMs !== null && lagMs !== undefined && lagMs > 50 && `its loop is ${duration(lagMs / 1000)} late`,
  ].filter(Boolean);
  return `Claims ${percent(share)} of what it could${reasons.length > 0 ? `: ${reasons.join(", ")}` : ""}.`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
