import { useEffect, useSyncExternalStore } from "react";
import { queryClient } from "~/api/client";
import { apply, type Portion, portionsOf } from "./apply";
import { Leader } from "./leader";
import { Merge, type RawEvent } from "./merge";
import { Poll, refreshLive } from "./poll";
import { Slices } from "./slices";
import { Stream, type StreamState } from "./stream";

/** What the line at the foot of the rail says. */
export type LiveState =
  | { is: "live" }
  | { is: "catching-up" }
  | { is: "polling"; everyS: number }
  | { is: "offline"; since: Date }
  | { is: "paused" }
  | { is: "idle" };

const HIDDEN_MS = 60_000;
const QUIET_MS = 300;

class Live {
  private state: LiveState = { is: "idle" };
  private readonly listeners = new Set<() => void>();
  private readonly wanted = new Map<symbol, string[]>();
  private readonly applying = new Slices<Portion>((portion) => apply(queryClient, portion));
  private readonly merge = new Merge((batch) => this.applying.add(portionsOf(batch)));
  private readonly heard = new Slices<RawEvent>(
    (event) => this.hear(event),
    (events) => this.leader.share(events),
  );
  private readonly stream = new Stream(
    {
      onEvent: (event) => this.heard.add([event]),
      onState: (state, failures) => {
        this.follow(state, failures);
        this.leader.shareState(state, failures);
      },
    },
    ofApp,
  );
  private readonly poll = new Poll(
    queryClient,
    () => this.stream.open(),
    (everyS) => this.set(navigator.onLine ? { is: "polling", everyS } : { is: "offline", since: new Date() }),
  );
  private readonly leader = new Leader({
    onLead: (topics) => this.stream.listen(topics),
    onEvents: (events) => {
      const last = events.at(-1)?.id;
      if (last) this.stream.heard(last);
      this.heard.add(events);
    },
    onState: (state, failures) => this.follow(state, failures),
  });
  private isPaused = false;
  private wasAway = false;
  private quiet: ReturnType<typeof setTimeout> | undefined;
  private leaving: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    document.addEventListener("visibilitychange", () => this.changeVisibility());
    globalThis.addEventListener("online", () => this.reconnect());
    globalThis.addEventListener("offline", () => this.set({ is: "offline", since: new Date() }));
  }

  get = (): LiveState => this.state;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Listen to topics until the returned function is called. */
  want(topics: string[]): () => void {
    const key = Symbol();
    this.wanted.set(key, topics);
    this.announce();
    return () => {
      this.wanted.delete(key);
      this.announce();
    };
  }

  /** The person stops and continues updates; the page stays as it is in between. */
  toggle(): void {
    this.isPaused = !this.isPaused;
    if (this.isPaused) {
      this.poll.stop();
      this.set({ is: "paused" });
    } else {
      refreshLive(queryClient);
      this.set({ is: "catching-up" });
      this.stream.open();
    }
    this.announce();
  }

  /** After signing in, or when the network is back. */
  reconnect(): void {
    this.poll.stop();
    refreshLive(queryClient);
    this.announce();
    this.stream.open();
  }

  private announce(): void {
    const isAway = this.isPaused || this.wasAway;
    this.leader.need(isAway ? [] : [...new Set([...this.wanted.values()].flat())]);
  }

  private changeVisibility(): void {
    clearTimeout(this.leaving);
    if (document.hidden) {
      this.leaving = setTimeout(() => {
        this.wasAway = true;
        this.announce();
      }, HIDDEN_MS);
    } else if (this.wasAway) {
      this.wasAway = false;
      this.reconnect();
    }
  }

  private hear({ kind, text }: RawEvent): void {
    if (kind === "ready" || kind === "tick") return;
    if (!this.isPaused) this.merge.add({ kind, data: parsed(text) });
    if (this.state.is === "catching-up") this.waitForQuiet();
  }

  private follow(state: StreamState, failures: number): void {
    if (this.isPaused) return;
    if (state === "open") {
      if (this.state.is === "polling" || this.state.is === "offline") refreshLive(queryClient);
      this.poll.stop();
      this.set({ is: "catching-up" });
      this.waitForQuiet();
    } else if (state === "connecting" && failures < 2 && this.state.is !== "offline") {
      this.set({ is: "catching-up" });
    } else if (state === "idle") {
      this.poll.stop();
      if (navigator.onLine) this.set({ is: "idle" });
    } else if (state === "failed") {
      if (failures < 2) setTimeout(() => this.stream.open(), 500);
      else this.poll.start();
    }
  }

  private waitForQuiet(): void {
    clearTimeout(this.quiet);
    this.quiet = setTimeout(() => this.state.is === "catching-up" && this.set({ is: "live" }), QUIET_MS);
  }

  private set(state: LiveState): void {
    if (state.is === "offline" && this.state.is === "offline") return; // since then
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Administrators look at the jobs of all owners, so their stream has all of them. The first stream begins where the app
 * began: what changes between the answer to a question and the begin of the stream is an event, too. */
function ofApp(): Record<string, string> {
  const app = queryClient.getQueryData<{ me: { role: string }; eventId: string }>(["app"]);
  return { ...(app?.me.role === "admin" && { userId: "all" }), ...(app && { after: app.eventId }) };
}

export const live = new Live();

export function useLiveState(): LiveState {
  return useSyncExternalStore(live.subscribe, live.get);
}

/** Listen to topics of the event stream while the component is shown: "jobs", "items:12", "overview". */
export function useTopics(...topics: string[]): void {
  const joined = topics.join(",");
  useEffect(() => (joined ? live.want(joined.split(",")) : undefined), [joined]);
}
