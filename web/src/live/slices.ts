const SLICE_MS = 8;

/** Handles values in the order in which they come, in slices of a few milliseconds: frames and input come in between. */
export class Slices<T> {
  private waiting: T[] = [];
  private isAsked = false;
  private channel: MessageChannel | undefined;

  constructor(
    private readonly handle: (value: T) => void,
    private readonly afterSlice: (handled: T[]) => void = () => {},
  ) {}

  add(values: readonly T[]): void {
    for (const value of values) this.waiting.push(value);
    this.ask();
  }

  private ask(): void {
    if (this.isAsked || this.waiting.length === 0) return;
    this.isAsked = true;
    if (!this.channel) {
      this.channel = new MessageChannel();
      this.channel.port1.onmessage = () => this.run();
    }
    this.channel.port2.postMessage(undefined);
  }

  private run(): void {
    this.isAsked = false;
    const until = performance.now() + SLICE_MS;
    let count = 0;
    try {
      do this.handle(this.waiting[count++]!);
      while (count < this.waiting.length && performance.now() < until);
    } finally {
      this.afterSlice(this.waiting.splice(0, count));
      this.ask();
    }
  }
}
