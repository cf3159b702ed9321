import type { Draft, DraftContent } from "~/api/articles";

export type DraftState =
  | { is: "unchanged" }
  | { is: "typing" }
  | { is: "kept"; at: string }
  | { is: "failed"; error: unknown };

type Send = (content: DraftContent, isLast: boolean) => Promise<Draft>;

const PAUSE_MS = 800;
const LONGEST_MS = 5000; // somebody who never pauses
const RETRY_MS = 5000;

/** Keeps what is typed as a draft: when nobody has typed for a moment, one request at a time, and at once when the page is
 * left. What could not be kept is tried again. */
export class DraftKeeper {
  private wanted: DraftContent | undefined;
  private since = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private sending: Promise<void> | undefined;
  private isStopped = false;

  constructor(
    private readonly send: Send,
    private readonly say: (state: DraftState) => void,
  ) {}

  change(content: DraftContent): void {
    if (this.isStopped) return;
    if (!this.wanted) this.since = Date.now();
    this.wanted = content;
    this.say({ is: "typing" });
    const left = this.since + LONGEST_MS - Date.now();
    this.wait(Math.max(0, Math.min(PAUSE_MS, left)));
  }

  /** Send what is waiting now: the page is being left. */
  flush(isLast = true): void {
    clearTimeout(this.timer);
    this.sending ??= this.sendAll(isLast).finally(() => {
      this.sending = undefined;
    });
  }

  /** Keep nothing more, and wait for what is under way: it would come after the article that was saved. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.wanted = undefined;
    clearTimeout(this.timer);
    await this.sending;
  }

  /** After an article could not be saved. */
  resume(): void {
    this.isStopped = false;
  }

  private wait(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(false), ms);
  }

  private async sendAll(isLast: boolean): Promise<void> {
    while (this.wanted) {
      const content = this.wanted;
      this.wanted = undefined;
      try {
        const { updatedAt } = await this.send(content, isLast);
        if (!this.wanted) this.say({ is: "kept", at: updatedAt });
      } catch (error) {
        if (this.isStopped) return;
        this.wanted ??= content;
        this.say({ is: "failed", error });
        this.wait(RETRY_MS);
        return;
      }
    }
  }
}
