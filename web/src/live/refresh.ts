import type { InvalidateQueryFilters, QueryClient, QueryKey } from "@tanstack/react-query";

const SOON_MS = 1000;
const TOGETHER_MS = 10; // events of several kinds that come together lead to one question
const RARELY_MS = [2000, 4000, 8000, 16_000, 30_000];
const FIRST_MS = 300;
const LONGEST_MS = 15_000; // an answer that takes longer does not hold back the next question

const asked = new Map<string, { again: boolean }>();

/** Ask again for what these keys name, because an event has made it old: now, then at most once a second, and never
 * while an answer is under way. Cancelling that, as invalidateQueries does, leaves a page without any answer as long as
 * events come faster than answers. A hidden page asks when it is seen again. */
export function refreshSoon(client: QueryClient, ...keys: QueryKey[]): void {
  for (const queryKey of keys) start(client, { queryKey }, (round) => (round === 0 ? TOGETHER_MS : SOON_MS));
}

/** The same for one query that events keep fresh, except now and then: as long as there are reasons to ask, the pauses
 * grow to half a minute. Each tab waits for a time of its own, because all of them have heard the same event. */
export function refreshRarely(client: QueryClient, queryKey: QueryKey): void {
  const pauseMs = (round: number) =>
    round === 0
      ? Math.random() * FIRST_MS
      : RARELY_MS[Math.min(round, RARELY_MS.length) - 1]! * (0.75 + Math.random() / 2);
  start(client, { queryKey, exact: true }, pauseMs);
}

function start(client: QueryClient, which: InvalidateQueryFilters, pauseMs: (round: number) => number): void {
  const name = JSON.stringify([which.queryKey, which.exact ?? false]);
  const running = asked.get(name);
  if (running) running.again = true;
  else void refresh(client, which, name, pauseMs);
}

async function refresh(
  client: QueryClient,
  which: InvalidateQueryFilters,
  name: string,
  pauseMs: (round: number) => number,
): Promise<void> {
  const running = { again: true };
  asked.set(name, running);
  await wait(pauseMs(0));
  for (let round = 1; running.again; round++) {
    running.again = hasNoAnswer(client, which);
    const pause = wait(pauseMs(round));
    const refetchType = document.hidden ? "none" : "active";
    await Promise.race([client.invalidateQueries({ ...which, refetchType }), wait(LONGEST_MS)]);
    await pause;
  }
  asked.delete(name);
}

/** Whether the first answer is under way: it may be older than the event, and invalidateQueries only waits for it. */
function hasNoAnswer(client: QueryClient, which: InvalidateQueryFilters): boolean {
  const asking = client.getQueryCache().findAll({ ...which, fetchStatus: "fetching" });
  return asking.some((query) => query.state.data === undefined);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
