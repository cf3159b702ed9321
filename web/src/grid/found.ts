import { type Rows, Told } from "./blocks";

interface Page<T> {
  rows: T[];
  next: string | null;
  /** The number of the last row that was searched. */
  searchedTo: number | null;
}

/** The rows that a filter finds: page by page, as many as were asked for. A page may be empty before the end. */
export class Found<T> extends Told implements Rows<T> {
  error: unknown;
  searchedTo = 0;
  private found: T[] = [];
  private next: string | null | undefined;
  private flight: AbortController | undefined;
  private upTo = 0;

  constructor(private readonly load: (after: string | undefined, signal: AbortSignal) => Promise<Page<T>>) {
    super();
  }

  get count(): number {
    return this.found.length;
  }

  get isComplete(): boolean {
    return this.next === null;
  }

  at(index: number): T | undefined {
    return this.found[index];
  }

  want(_first: number, end: number): void {
    this.upTo = Math.max(this.upTo, end + 100);
    void this.go();
  }

  /** Found rows stay as they were found: they would move away under the reader's eyes. */
  refresh(): void {}

  stop(): void {
    this.flight?.abort();
    this.next = null;
  }

  private async go(): Promise<void> {
    if (this.flight || this.next === null || this.found.length >= this.upTo) return;
    const flight = new AbortController();
    this.flight = flight;
    try {
      const page = await this.load(this.next, flight.signal);
      if (flight.signal.aborted) return;
      this.error = undefined;
      this.found = [...this.found, ...page.rows];
      this.next = page.next;
      this.searchedTo = page.searchedTo ?? this.searchedTo;
    } catch (error) {
      if (flight.signal.aborted) return;
      this.error = error;
    }
    this.flight = undefined;
    this.tell();
    if (!this.error) void this.go();
  }
}
