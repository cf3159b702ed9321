import type { QueryClient } from "@tanstack/react-query";

/** What to do with the events of a kind: put them into the cache. Events of a quarter of a second come together. */
// biome-ignore lint/suspicious/noExplicitAny: each kind has its own type, which only its listener knows
type Listener = (client: QueryClient, values: any[]) => void;

const listeners = new Map<string, Listener[]>();

/** Register for events of the stream: `onLive("job", (client, jobs: Job[]) => …)`, at the top of the noun's file in api/. */
export function onLive(kind: string, listener: Listener): void {
  listeners.set(kind, [...(listeners.get(kind) ?? []), listener]);
}

export function apply(client: QueryClient, { kind, values }: Portion): void {
  for (const listener of listeners.get(kind) ?? []) listener(client, values);
}

/** Events of one kind that are put into the cache together. */
export interface Portion {
  kind: string;
  values: unknown[];
}

const PORTION = 500;

export function portionsOf(batch: Map<string, unknown[]>): Portion[] {
  return [...batch].flatMap(([kind, values]) =>
    Array.from({ length: Math.ceil(values.length / PORTION) }, (_, n) => ({
      kind,
      values: values.slice(n * PORTION, (n + 1) * PORTION),
    })),
  );
}
