import type { RawEvent } from "./merge";
import type { StreamState } from "./stream";

/** One tab of the browser holds the event stream for all: a browser has six connections to a host over HTTP/1.1. */

type Message =
  | { kind: "topics"; tab: string; topics: string[] }
  | { kind: "bye"; tab: string }
  | { kind: "hello" }
  | { kind: "events"; events: RawEvent[] }
  | { kind: "state"; state: StreamState; failures: number };

interface Tab {
  topics: string[];
  seen: number;
}

interface Watcher {
  /** This tab leads, with the topics of all tabs. */
  onLead: (topics: Set<string>) => void;
  onEvents: (events: RawEvent[]) => void;
  onState: (state: StreamState, failures: number) => void;
}

const HELLO_MS = 30_000;
const FORGOTTEN_MS = 75_000; // a tab that ended without a word

export class Leader {
  private readonly tab = `${Date.now()}-${Math.random()}`;
  private readonly channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("forebay.live") : undefined;
  private readonly tabs = new Map<string, Tab>();
  private topics: string[] = [];
  private leads = false;

  constructor(private readonly watcher: Watcher) {
    this.channel?.addEventListener("message", (event: MessageEvent<Message>) => this.hear(event.data));
    globalThis.addEventListener("pagehide", () => this.tell({ kind: "bye", tab: this.tab }));
    // Without locks, as over plain HTTP in a home network, each tab has its own stream.
    if (!navigator.locks || !this.channel) this.lead();
    else {
      void navigator.locks.request("forebay.live", () => {
        this.lead();
        this.tell({ kind: "hello" });
        setInterval(() => this.greet(), HELLO_MS);
        return new Promise(() => {}); // until the tab closes
      });
    }
  }

  /** The topics that this tab needs. */
  need(topics: string[]): void {
    this.topics = topics;
    if (this.leads) this.gather();
    else this.tell({ kind: "topics", tab: this.tab, topics });
  }

  /** Pass on what the stream has, if this tab leads. */
  share(events: RawEvent[]): void {
    if (this.leads && this.tabs.size > 0) this.tell({ kind: "events", events });
  }

  shareState(state: StreamState, failures: number): void {
    if (this.leads) this.tell({ kind: "state", state, failures });
  }

  private lead(): void {
    this.leads = true;
    this.gather();
  }

  private greet(): void {
    const now = Date.now();
    for (const [name, tab] of this.tabs) if (now - tab.seen > FORGOTTEN_MS) this.tabs.delete(name);
    this.tell({ kind: "hello" });
    this.gather();
  }

  private gather(): void {
    this.watcher.onLead(new Set([...this.topics, ...[...this.tabs.values()].flatMap((tab) => tab.topics)]));
  }

  private hear(message: Message): void {
    switch (message.kind) {
      case "topics":
        if (!this.leads) return;
        this.tabs.set(message.tab, { topics: message.topics, seen: Date.now() });
        this.gather();
        return;
      case "bye":
        if (this.leads && this.tabs.delete(message.tab)) this.gather();
        return;
      case "hello":
        if (!this.leads) this.tell({ kind: "topics", tab: this.tab, topics: this.topics });
        return;
      case "events":
        if (!this.leads) this.watcher.onEvents(message.events);
        return;
      case "state":
        if (!this.leads) this.watcher.onState(message.state, message.failures);
    }
  }

  private tell(message: Message): void {
    this.channel?.postMessage(message);
  }
}
