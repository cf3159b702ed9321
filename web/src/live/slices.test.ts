// @vitest-environment node
import { expect, test, vi } from "vitest";
import { Slices } from "./slices";

test("values are handled in order, in slices between which other tasks run", async () => {
  const clock = vi.spyOn(performance, "now");
  let now = 0;
  clock.mockImplementation(() => now);
  const handled: number[] = [];
  const slices: number[] = [];
  const slow = new Slices<number>(
    (value) => {
      handled.push(value);
      now += 3; // ms
    },
    (values) => slices.push(values.length),
  );
  const values = Array.from({ length: 10 }, (_, n) => n);
  slow.add(values.slice(0, 4));
  slow.add(values.slice(4));
  expect(handled).toEqual([]);
  await vi.waitFor(() => expect(handled).toEqual(values));
  expect(slices).toEqual([3, 3, 3, 1]);
  clock.mockRestore();
});

test("a value that cannot be handled does not hold back the others", async () => {
  const failures: unknown[] = [];
  const note = (error: unknown) => void failures.push(error);
  process.on("uncaughtException", note);
  const handled: number[] = [];
  const slices = new Slices<number>((value) => {
    if (value === 1) throw new Error("cannot be handled");
    handled.push(value);
  });
  slices.add([1, 2]);
  await vi.waitFor(() => expect(handled).toEqual([2]));
  process.off("uncaughtException", note);
});
