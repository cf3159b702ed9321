import { type Rows, Told } from "./blocks";

/** Where a page begins or ends: at a row, after a page, or before a row. */
export interface FoundPlace {
  from?: number;
  after?: string;
  before?: number;
}

interface Page<T> {
  rows: T[];
  next: string | null;
  /** Of a page before a row: the row before which the next one ends. */
  previous: number | null;
  /** The number of the last row that was searched; of a page before a row, that of the first. */
  searchedTo: number | null;
}

const MORE = 100; // rows that are loaded beyond those in view

/**
 * The rows that a filter finds, page by page, from a row on: as many as were asked for, forward and backward. A page may
 * be empty before the end.
 */
export class Found<T> extends Told implements Rows<T> {
  error: unknown;
  prepended = 0;
  searchedFrom: number;
  searchedTo: number;
  private found: T[] = [];
  private next: string | null | undefined;
  private previous: number | null;
  private flight: AbortController | undefined;
  private upTo = 0;
  private downTo = 0;

  constructor(
    private readonly load: (place: FoundPlace, signal: AbortSignal) => Promise<Page<T>>,
    private readonly start = 1,
  ) {
    super();
    this.previous = start > 1 ? start : null;
    this.searchedFrom = start;
    this.searchedTo = start - 1;
  }

  get count(): number {
    return this.found.length;
  }

  /** Whether everything was searched, in both directions. */
  get isComplete(): boolean {
    return this.next === null && this.previous === null;
  }

  at(index: number): T | undefined {
    return this.found[index];
  }

  want(first: number, end: number): void {
    this.upTo = Math.max(this.upTo, end + MORE);
    this.downTo = first - MORE;
    void this.go();
  }

  /** Found rows stay as they were found: they would move away under the reader's eyes. */
  refresh(): void {}

  stop(): void {
    this.flight?.abort();
    this.next = null;
    this.previous = null;
  }

  private async go(): Promise<void> {
    if (this.flight) return;
    const isAhead = this.next !== null && this.found.length < this.upTo;
    const isBack = !isAhead && this.next !== undefined && this.previous !== null && this.downTo < 0;
    if (!isAhead && !isBack) return;
    const flight = new AbortController();
    this.flight = flight;
    try {
      if (isAhead) await this.goAhead(flight.signal);
      else await this.goBack(flight.signal);
    } catch (error) {
      if (!flight.signal.aborted) this.error = error;
    }
    if (flight.signal.aborted) return;
    this.flight = undefined;
    this.tell();
    if (!this.error) void this.go();
  }

  private async goAhead(signal: AbortSignal): Promise<void> {
    const page = await this.load(this.next ? { after: this.next } : { from: this.start }, signal);
    if (signal.aborted) return;
    this.error = undefined;
    this.found = [...this.found, ...page.rows];
    this.next = page.next;
    this.searchedTo = page.searchedTo ?? this.searchedTo;
  }

  private async goBack(signal: AbortSignal): Promise<void> {
    const page = await this.load({ before: this.previous! }, signal);
    if (signal.aborted) return;
    this.error = undefined;
    this.found = [...page.rows, ...this.found];
    this.previous = page.previous;
    this.searchedFrom = page.searchedTo ?? 1;
    this.prepended += page.rows.length;
    this.downTo += page.rows.length;
    this.upTo += page.rows.length;
  }
}
