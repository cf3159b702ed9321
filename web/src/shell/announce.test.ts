import { expect, test, vi } from "vitest";
import { announce, announced } from "./announce";

test("one sentence in ten seconds is said, the newest", () => {
  vi.useFakeTimers();
  announce("Sheet: 10 percent");
  expect(announced.get()).toBe("Sheet: 10 percent");
  announce("Sheet: 20 percent");
  announce("Sheet: 30 percent");
  vi.advanceTimersByTime(9_000);
  expect(announced.get()).toBe("Sheet: 10 percent");
  vi.advanceTimersByTime(1_000);
  expect(announced.get()).toBe("Sheet: 30 percent");
  vi.useRealTimers();
});
