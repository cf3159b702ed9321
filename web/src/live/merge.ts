/** Events of a stream, merged: of one thing only the newest is kept, and they are passed on in batches. */

export interface LiveEvent {
  kind: string;
  data: unknown;
}

interface Stamped {
  id?: unknown;
  jobId?: unknown;
  updatedAt?: string;
  at?: string;
}

/** What an event is about: a job by its id, an item by its job and id. Without an id, each event counts. */
export function subjectOf(event: LiveEvent): string | undefined {
  if (typeof event.data !== "object" || event.data === null) return undefined;
  const { id, jobId } = event.data as Stamped;
  if (id === undefined && jobId === undefined) return undefined;
  return `${event.kind} ${String(jobId ?? "")} ${String(id ?? "")}`;
}

function stampOf(event: LiveEvent): string {
  const { updatedAt, at } = (event.data ?? {}) as Stamped;
  return updatedAt ?? at ?? "";
}

export class Merge {
  private waiting = new Map<string, LiveEvent>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private count = 0;

  constructor(
    private readonly pass: (batch: Map<string, unknown[]>) => void,
    private readonly everyMs = 250,
  ) {}

  add(event: LiveEvent): void {
    const subject = subjectOf(event) ?? `${event.kind} #${this.count++}`;
    const before = this.waiting.get(subject);
    if (before && stampOf(before) > stampOf(event)) return;
    this.waiting.set(subject, event);
    this.timer ??= setTimeout(() => this.flush(), this.everyMs);
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const batch = new Map<string, unknown[]>();
    for (const { kind, data } of this.waiting.values()) batch.set(kind, [...(batch.get(kind) ?? []), data]);
    this.waiting.clear();
    if (batch.size > 0) this.pass(batch);
  }
}
