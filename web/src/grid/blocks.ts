/** Rows of a grid by their place, and who is told when there are more. */
export interface Rows<T> {
  /** How many rows there are, as far as is known. */
  readonly count: number;
  /** How many rows were put before the first since it was loaded: the places of the others grew by as many. */
  readonly prepended: number;
  /** The row at a place from 0; undefined while it is not loaded. */
  at(index: number): T | undefined;
  /** Load the rows from `first` up to `end`, and then those in the direction of travel. */
  want(first: number, end: number, ahead?: 1 | -1): void;
  /** Load these rows again. */
  refresh(first: number, end: number): void;
  stop(): void;
  readonly error: unknown;
  subscribe: (listener: () => void) => () => void;
  version: () => number;
}

const SIZE = 200;
const MOST_BLOCKS = 40;
const MOST_FLYING = 2;

type Load<T> = (first: number, size: number, signal: AbortSignal) => Promise<{ rows: T[]; total: number }>;

/** What all kinds of rows have: listeners, and a version that changes with the rows. */
export class Told {
  private readonly listeners = new Set<() => void>();
  private changes = 0;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  version = (): number => this.changes;

  protected tell(): void {
    this.changes += 1;
    for (const listener of this.listeners) listener();
  }
}

/** Rows in blocks by number: at most 40 are kept, at most two are on their way, and those no longer wanted are aborted. */
export class Blocks<T> extends Told implements Rows<T> {
  error: unknown;
  readonly prepended = 0;
  private readonly kept = new Map<number, T[]>(); // those used last are at the end
  private readonly flying = new Map<number, AbortController>();
  private wanted: number[] = [];
  private again: [number, number] | undefined;
  private isStopped = false;

  constructor(
    public count: number,
    private readonly load: Load<T>,
    private readonly size = SIZE,
  ) {
    super();
  }

  at(index: number): T | undefined {
    return this.kept.get(Math.floor(index / this.size))?.[index % this.size];
  }

  /** More rows were added to the end. */
  grow(count: number): void {
    if (count === this.count) return;
    const last = Math.floor(Math.min(this.count, count) / this.size);
    this.count = count;
    this.kept.delete(last); // it was not full
    this.tell();
  }

  want(first: number, end: number, ahead: 1 | -1 = 1): void {
    const seen = this.blocksOf(first, end);
    if (seen.length === 0) return;
    for (const block of seen) this.use(block);
    const next = ahead > 0 ? seen.at(-1)! + 1 : seen[0]! - 1;
    this.ask([...seen, next].filter((block) => this.has(block) && !this.kept.has(block)));
  }

  refresh(first: number, end: number): void {
    const seen = this.blocksOf(first, end);
    for (const block of this.kept.keys()) if (!seen.includes(block)) this.kept.delete(block); // they are old as well
    this.again = this.flying.size > 0 ? [first, end] : undefined; // what is on its way may be old when it comes
    if (!this.again) this.ask(seen);
  }

  stop(): void {
    this.isStopped = true;
    for (const [, flight] of this.flying) flight.abort();
    this.flying.clear();
  }

  private blocksOf(first: number, end: number): number[] {
    if (end <= first) return [];
    const from = Math.floor(first / this.size);
    const to = Math.floor((end - 1) / this.size);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index).filter((block) => this.has(block));
  }

  private has(block: number): boolean {
    return block >= 0 && block * this.size < this.count;
  }

  private ask(blocks: number[]): void {
    this.wanted = blocks;
    for (const [block, flight] of this.flying) {
      if (blocks.includes(block)) continue;
      flight.abort();
      this.flying.delete(block);
    }
    this.go();
  }

  private go(): void {
    for (const block of this.wanted) {
      if (this.flying.size >= MOST_FLYING || this.isStopped) return;
      if (!this.flying.has(block)) void this.fly(block);
    }
  }

  private async fly(block: number): Promise<void> {
    const flight = new AbortController();
    this.flying.set(block, flight);
    this.wanted = this.wanted.filter((each) => each !== block);
    try {
      const { rows, total } = await this.load(block * this.size, this.size, flight.signal);
      if (flight.signal.aborted) return;
      this.error = undefined;
      this.keep(block, rows);
      this.count = total;
    } catch (error) {
      if (flight.signal.aborted) return;
      this.error = error;
    }
    this.flying.delete(block);
    this.tell();
    this.go();
    if (this.again && this.flying.size === 0) this.refresh(...this.again);
  }

  private keep(block: number, rows: T[]): void {
    const before = this.kept.get(block);
    this.kept.delete(block);
    this.kept.set(
      block,
      rows.map((row, index) => unchanged(before?.[index], row)),
    );
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= MOST_BLOCKS) break;
      this.kept.delete(oldest);
    }
  }

  private use(block: number): void {
    const rows = this.kept.get(block);
    if (!rows) return;
    this.kept.delete(block);
    this.kept.set(block, rows);
  }
}

/** The row before if it says the same, so that it is not drawn again. */
function unchanged<T>(before: T | undefined, now: T): T {
  return before !== undefined && JSON.stringify(before) === JSON.stringify(now) ? before : now;
}
