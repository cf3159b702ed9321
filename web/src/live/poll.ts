import type { Query, QueryClient } from "@tanstack/react-query";

const EVERY_S = [5, 15, 60];

/** Asks for what is shown while there is no stream, less and less often. */
export class Poll {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private round = 0;

  constructor(
    private readonly client: QueryClient,
    private readonly retry: () => void,
    private readonly tell: (everyS: number) => void,
  ) {}

  start(): void {
    if (this.timer) return;
    const everyS = EVERY_S[Math.min(Math.floor(this.round / 4), EVERY_S.length - 1)]!;
    this.tell(everyS);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.round += 1;
      if (!document.hidden) refreshLive(this.client, false); // the tries of a request that fails take longer than a round
      this.retry();
    }, everyS * 1000);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.round = 0;
  }
}

/** Ask again for everything that is shown and that events would keep fresh, also for what is being asked for. */
export function refreshLive(client: QueryClient, cancelRefetch = true): void {
  const isLive = { predicate: (query: Query) => query.meta?.live === true, refetchType: "active" } as const;
  void client.invalidateQueries(isLive, { cancelRefetch });
}
