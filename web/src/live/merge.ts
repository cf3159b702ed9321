/** Events of a stream, merged: of one thing only the last is kept. Times do not decide: of two changes the one that began
 * first may be committed last. The first event after a pause is passed on at once, the next ones together. */

/** An event as the stream has it. */
export interface RawEvent {
  kind: string;
  text: string;
  /** From which a stream goes on. */
  id: string;
}

export interface LiveEvent {
  kind: string;
  data: unknown;
}

interface Named {
  id?: unknown;
  jobId?: unknown;
  itemId?: unknown;
}

/** What an event is about: a job by its id, an item by its job and id. Without an id, each event counts. */
export function subjectOf(event: LiveEvent): string | undefined {
  if (typeof event.data !== "object" || event.data === null) return undefined;
  const { id, jobId, itemId } = event.data as Named;
  if (id === undefined && jobId === undefined) return undefined;
  return `${event.kind} ${String(jobId ?? "")} ${String(id ?? itemId ?? "")}`;
}

export class Merge {
  private waiting = new Map<string, LiveEvent>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private count = 0;
  private passedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly pass: (batch: Map<string, unknown[]>) => void,
    private readonly everyMs = 250,
  ) {}

  add(event: LiveEvent): void {
    const subject = subjectOf(event) ?? `${event.kind} #${this.count++}`;
    this.waiting.set(subject, event);
    this.timer ??= setTimeout(() => this.flush(), Math.max(0, this.passedAt + this.everyMs - performance.now()));
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.passedAt = performance.now();
    const batch = new Map<string, unknown[]>();
    for (const { kind, data } of this.waiting.values()) {
      const values = batch.get(kind);
      if (values) values.push(data);
      else batch.set(kind, [data]);
    }
    this.waiting.clear();
    if (batch.size > 0) this.pass(batch);
  }
}
