import type { GridColumn, GridPage, GridRow } from "~/api/grid";
import { type Rows, Told } from "./blocks";

/** Above this, rows stay in the order of the file: all of them would have to be loaded. */
export const MOST_SORTED = 50_000;

const NUMBERS: ReadonlySet<GridColumn["type"]> = new Set(["number", "score"]);
const texts = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Which of two cells comes first; empty ones are last in both directions. */
export function compareCells(
  a: string | null | undefined,
  b: string | null | undefined,
  type: GridColumn["type"],
  isDown: boolean,
): number {
  if (!a || !b) return Number(!a) - Number(!b);
  const byNumber = NUMBERS.has(type) ? Number(a) - Number(b) : Number.NaN;
  const order = Number.isNaN(byNumber) ? texts.compare(a, b) : byNumber;
  return isDown ? -order : order;
}

/** All rows that a filter finds, in the order of a column: they are loaded first. */
export class Sorted extends Told implements Rows<GridRow> {
  error: unknown;
  readonly prepended = 0;
  loaded: GridRow[] = [];
  isComplete = false;
  private rows: GridRow[] = [];
  private flight: AbortController | undefined;

  constructor(
    private readonly load: (after: string | undefined, signal: AbortSignal) => Promise<GridPage>,
    private readonly place: number,
    private readonly type: GridColumn["type"],
    private readonly isDown: boolean,
  ) {
    super();
  }

  get count(): number {
    return this.rows.length;
  }

  at(index: number): GridRow | undefined {
    return this.rows[index];
  }

  want(): void {
    if (!this.flight && !this.isComplete) void this.loadAll();
  }

  /** Sorted rows stay as they were loaded: they would move away under the reader's eyes. */
  refresh(): void {}

  stop(): void {
    this.flight?.abort();
    this.isComplete = true;
  }

  private async loadAll(): Promise<void> {
    const flight = new AbortController();
    this.flight = flight;
    this.error = undefined;
    this.loaded = [];
    try {
      let after: string | undefined;
      do {
        const page = await this.load(after, flight.signal);
        if (flight.signal.aborted) return;
        this.loaded = [...this.loaded, ...page.rows];
        after = page.next ?? undefined;
        this.tell();
      } while (after);
      this.rows = this.loaded.toSorted(
        (a, b) => compareCells(a.cells[this.place], b.cells[this.place], this.type, this.isDown) || +a.id - +b.id,
      );
      this.isComplete = true;
    } catch (error) {
      if (flight.signal.aborted) return;
      this.error = error;
    }
    this.flight = undefined;
    this.tell();
  }
}
