/** The tallest box that all browsers scroll exactly. */
const TALLEST = 8_000_000;
/** A move of more than this many views is one of the scrollbar's thumb. */
const SMALL = 3;

/**
 * Where a list of any number of rows is, while the box that scrolls is at most 8,000,000 px high.
 *
 * Rows have places in a virtual box of their true height. Small moves of the real box move the virtual one by as many
 * pixels; large ones, by the thumb, go to the same fraction of it. Both ends are exact. After small moves, `settle` moves
 * the real box to the fraction where the virtual one is.
 */
export class Scroller {
  /** The first pixel of the virtual box that is seen. */
  top = 0;
  /** The same of the real box. */
  real = 0;

  constructor(
    private rows = 0,
    private rowHeight = 32,
    private view = 0,
    private readonly tallest = TALLEST,
  ) {}

  get realHeight(): number {
    return Math.min(this.height, this.tallest);
  }

  /** What to add to the virtual place of a row to get its place in the real box. */
  get offset(): number {
    return this.real - this.top;
  }

  private get height(): number {
    return this.rows * this.rowHeight;
  }

  private get last(): number {
    return Math.max(0, this.height - this.view);
  }

  private get realLast(): number {
    return Math.max(0, this.realHeight - this.view);
  }

  /** Another number of rows, or size of the box: the first row that is seen stays. */
  resize(rows: number, rowHeight: number, view: number): void {
    if (rows === this.rows && rowHeight === this.rowHeight && view === this.view) return;
    const first = this.top / this.rowHeight;
    this.rows = rows;
    this.rowHeight = rowHeight;
    this.view = view;
    this.place(first * rowHeight);
  }

  /** The real box was scrolled. Returns whether this was a jump, so that what is between does not have to be loaded. */
  moved(real: number): boolean {
    const by = real - this.real;
    if (by === 0) return false;
    this.real = real;
    const isJump = Math.abs(by) >= SMALL * this.view;
    if (this.realHeight === this.height) this.top = real;
    else if (real <= 0) this.top = 0;
    else if (real >= this.realLast - 1) this.top = this.last;
    else if (isJump) this.top = (real / this.realLast) * this.last;
    else this.top = this.clamp(this.top + by);
    return isJump;
  }

  /** Go to a place of the virtual box; the real one has to be scrolled to `real`. */
  place(top: number): void {
    this.top = this.clamp(top);
    this.settle();
  }

  /** Rows were put before the first: those that are seen stay. */
  shift(rows: number): void {
    this.place(this.top + rows * this.rowHeight);
  }

  /** Bring a row into view, in the middle if it was out of it. */
  show(row: number): void {
    const at = Math.max(0, Math.min(this.rows - 1, row)) * this.rowHeight;
    const isAbove = at < this.top;
    const isBelow = at + this.rowHeight > this.top + this.view;
    if (!isAbove && !isBelow) return;
    const away = isAbove ? this.top - at : at + this.rowHeight - this.top - this.view;
    if (away > this.view) this.place(at - (this.view - this.rowHeight) / 2);
    else this.place(isAbove ? at : at + this.rowHeight - this.view);
  }

  settle(): void {
    this.real = this.last === 0 ? 0 : Math.round((this.top / this.last) * this.realLast);
  }

  /** The rows that are seen, and some more at both ends: from the first, up to the last without it. */
  range(more = 0): [number, number] {
    const first = Math.floor(this.top / this.rowHeight) - more;
    const end = Math.ceil((this.top + this.view) / this.rowHeight) + more;
    return [Math.max(0, Math.min(first, this.rows)), Math.max(0, Math.min(end, this.rows))];
  }

  private clamp(top: number): number {
    return Math.max(0, Math.min(this.last, top));
  }
}
