import type { RawEvent } from "./merge";

/** Kinds of events that the API sends; EventSource has to be told each. */
export const KINDS = ["ready", "job", "item", "progress", "digest", "overview", "gone", "tick"] as const;

const SILENCE_MS = 40_000; // a tick comes every 15 s: longer silence is a dead line
const MOST_JOBS = 50;
const REOPEN_MS = 200; // topics change together when a page opens

/** Idle: there is nothing to listen to. */
export type StreamState = "closed" | "connecting" | "open" | "failed" | "idle";

interface Watcher {
  onEvent: (event: RawEvent) => void;
  onState: (state: StreamState, failures: number) => void;
}

/** One EventSource with all topics; it resumes after the last event that was received. */
export class Stream {
  private source: EventSource | undefined;
  private topics = "";
  private lastId = "";
  private failures = 0;
  private heardAt = 0;
  private silence: ReturnType<typeof setTimeout> | undefined;
  private reopening: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly watcher: Watcher,
    private readonly parameters: () => Record<string, string> = () => ({}),
  ) {}

  /** Listen to these topics; none closes the stream. */
  listen(topics: Iterable<string>): void {
    const wanted = bounded([...new Set(topics)])
      .sort()
      .join(",");
    if (wanted === this.topics && (this.source || !wanted)) return;
    this.topics = wanted;
    clearTimeout(this.reopening);
    this.reopening = setTimeout(() => this.open(), this.source ? REOPEN_MS : 0);
  }

  /** Connect again now, as after signing in or coming back online. */
  open(): void {
    this.close();
    if (!this.topics) {
      this.watcher.onState("idle", 0);
      return;
    }
    this.watcher.onState("connecting", this.failures);
    const given = { ...this.parameters(), topics: this.topics, ...(this.lastId && { after: this.lastId }) };
    const query = new URLSearchParams(given);
    const source = new EventSource(`/api/events?${query}`);
    this.source = source;
    for (const kind of KINDS) source.addEventListener(kind, (event) => this.hear(kind, event));
    source.onerror = () => {
      this.close();
      this.failures += 1;
      this.watcher.onState("failed", this.failures);
    };
    this.heardAt = performance.now();
    this.listenForSilence(SILENCE_MS);
  }

  close(): void {
    clearTimeout(this.silence);
    clearTimeout(this.reopening);
    if (!this.source) return;
    this.source.close();
    this.source = undefined;
    this.watcher.onState("closed", this.failures);
  }

  private hear(kind: string, event: MessageEvent<string>): void {
    if (event.lastEventId) this.lastId = event.lastEventId;
    this.heardAt = performance.now();
    if (kind === "ready") {
      this.failures = 0;
      this.watcher.onState("open", 0);
    }
    this.watcher.onEvent({ kind, text: event.data, id: this.lastId });
  }

  /** Go on after this event, which another tab has received. */
  heard(id: string): void {
    this.lastId = id;
  }

  private listenForSilence(forMs: number): void {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      const leftMs = this.heardAt + SILENCE_MS - performance.now();
      if (leftMs > 0) this.listenForSilence(leftMs);
      else this.open();
    }, forMs);
  }
}

/** The API follows the items of at most 50 jobs; those that were asked for last count. */
function bounded(topics: string[]): string[] {
  const isItems = (topic: string) => topic.startsWith("items:");
  return [...topics.filter((topic) => !isItems(topic)), ...topics.filter(isItems).slice(-MOST_JOBS)];
}
