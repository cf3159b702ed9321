import { expect, test } from "vitest";
import { bytes, duration, exactTime, host, rate, relative, short, took } from "./format";

test("durations have at most two units", () => {
  const said = [0, 0.0004, 0.34, 1, 8.25, 59.6, 61, 4320, 90061, 86400].map(duration);
  expect(said).toEqual(["0 s", "1 ms", "340 ms", "1 s", "8.3 s", "1 min", "1 min 1 s", "1 h 12 min", "1 d 1 h", "1 d"]);
});

test("what took no time that was measured took less than a millisecond", () => {
  expect(took("2026-05-17T10:00:00.000Z", "2026-05-17T10:00:00.000Z")).toBe("< 1 ms");
  expect(took("2026-05-17T10:00:00.000Z", "2026-05-17T10:00:01.500Z")).toBe("1.5 s");
});

test("times are relative, and dates after a week", () => {
  const now = new Date("2026-11-16T12:00:00Z");
  const ago = (seconds: number) => relative(new Date(now.getTime() - seconds * 1000), now);
  expect([0, 8, 90, 7200, -30, 3 * 86400].map(ago)).toEqual([
    "now",
    "8 s ago",
    "1 min ago",
    "2 h ago",
    "in 30 s",
    "3 d ago",
  ]);
  expect(ago(30 * 86400)).toBe("Oct 17, 2026");
  expect(exactTime(now)).toContain("2026-11-16 12:00:00 UTC");
});

test("large numbers are short, bytes and rates have their unit", () => {
  expect([9999, 10_000, 1_234_567].map(short)).toEqual(["9,999", "10 K", "1.23 M"]);
  expect([0, 999, 1000, 12_345_678, 999_999].map(bytes)).toEqual([
    "0 bytes",
    "999 bytes",
    "1.0 kB",
    "12.3 MB",
    "1.0 MB",
  ]);
  expect([62.4, 3.14, 0.05, 0.001].map(rate)).toEqual(["62/s", "3.1/s", "3.0/min", "3.6/h"]);
});

test("hosts are shown without www", () => {
  expect([host("https://www.example.org/a"), host("nothing")]).toEqual(["example.org", "nothing"]);
});

test("a rate has the unit that makes it readable", () => {
  expect([0, 0.001, 0.5, 3.14, 62].map(rate)).toEqual(["0/s", "3.6/h", "30.0/min", "3.1/s", "62/s"]);
});
