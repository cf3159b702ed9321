import { useEffect, useRef } from "react";
import { Store } from "./store";

/** What a screen reader says of what goes on. */
export const announced = new Store("");

const EVERY_MS = 10_000;
let saidAt = Number.NEGATIVE_INFINITY;
let waiting: { text: string } | undefined;

/** Say a sentence, but not more than one in ten seconds: the newest replaces one that waits. */
export function announce(text: string): void {
  if (waiting) {
    waiting.text = text;
    return;
  }
  const say = () => {
    const now = waiting?.text ?? text;
    waiting = undefined;
    saidAt = performance.now();
    announced.set(now);
  };
  const wait = saidAt + EVERY_MS - performance.now();
  if (wait <= 0) say();
  else {
    waiting = { text };
    setTimeout(say, wait);
  }
}

/** Say this whenever it changes; not at first, when the page itself is read. */
export function useAnnounced(text: string): void {
  const before = useRef(text);
  useEffect(() => {
    if (before.current === text) return;
    before.current = text;
    announce(text);
  }, [text]);
}
