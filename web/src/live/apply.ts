import type { QueryClient } from "@tanstack/react-query";

/** What to do with the events of a kind: put them into the cache. At most one call per 250 ms. */
// biome-ignore lint/suspicious/noExplicitAny: each kind has its own type, which only its listener knows
type Listener = (client: QueryClient, values: any[]) => void;

const listeners = new Map<string, Listener[]>();

/** Register for events of the stream: `onLive("job", (client, jobs: Job[]) => …)`, at the top of the noun's file in api/. */
export function onLive(kind: string, listener: Listener): void {
  listeners.set(kind, [...(listeners.get(kind) ?? []), listener]);
}

export function apply(client: QueryClient, batch: Map<string, unknown[]>): void {
  for (const [kind, values] of batch) {
    for (const listener of listeners.get(kind) ?? []) listener(client, values);
  }
}
