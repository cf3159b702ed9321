import { describe, expect, it } from "vitest";
import { Scroller } from "./scroller";

const ROWS = [0, 1, 7, 200, 99_999, 300_000, 1_000_000, 20_000_000, 1_000_000_000];
const VIEW = 600;

/** Numbers that look random and are the same in each run. */
function* numbers(seed: number): Generator<number> {
  let state = seed;
  while (true) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state / 2_147_483_648;
  }
}

describe.each(ROWS)("%d rows", (rows) => {
  const last = Math.max(0, rows - 1);

  it("are in a box that browsers can scroll", () => {
    expect(new Scroller(rows, 32, VIEW).realHeight).toBe(Math.min(rows * 32, 8_000_000));
  });

  it("have exact ends", () => {
    const scroller = new Scroller(rows, 32, VIEW);
    const end = Math.max(0, scroller.realHeight - VIEW);
    scroller.moved(end);
    expect(scroller.range()[1]).toBe(rows);
    if (rows * 32 > VIEW) expect(scroller.top + VIEW).toBe(rows * 32);
    scroller.moved(0);
    expect(scroller.top).toBe(0);
  });

  it("can each be shown", () => {
    const scroller = new Scroller(rows, 32, VIEW);
    const random = numbers(rows + 1);
    for (let turn = 0; turn < 200; turn++) {
      const row = turn === 0 ? 0 : turn === 1 ? last : Math.floor(random.next().value * rows);
      scroller.show(row);
      const [first, end] = scroller.range();
      if (rows > 0) expect(row >= first && row < end).toBe(true);
      expect(scroller.real).toBeGreaterThanOrEqual(0);
      expect(scroller.real).toBeLessThanOrEqual(Math.max(0, scroller.realHeight - VIEW));
    }
  });

  it("do not go back when the box goes on", () => {
    const scroller = new Scroller(rows, 32, VIEW);
    const end = Math.max(0, scroller.realHeight - VIEW);
    const random = numbers(rows + 2);
    let before = 0;
    for (let real = 0; real < end; real += Math.ceil(random.next().value * Math.max(1, end / 200))) {
      scroller.moved(real);
      expect(scroller.top).toBeGreaterThanOrEqual(before);
      before = scroller.top;
      scroller.settle();
      expect(scroller.top).toBe(before);
    }
  });
});

describe("a million rows", () => {
  it("move pixel by pixel with the wheel", () => {
    const scroller = new Scroller(1_000_000, 32, VIEW);
    scroller.show(412_000);
    const { top, real } = scroller;
    for (let turn = 1; turn <= 20; turn++) {
      expect(scroller.moved(real + turn * 100)).toBe(false);
      expect(scroller.top).toBe(top + turn * 100);
    }
  });

  it("jump with the thumb", () => {
    const scroller = new Scroller(1_000_000, 32, VIEW);
    expect(scroller.moved(4_000_000 - VIEW / 2)).toBe(true);
    expect(Math.abs(scroller.range()[0] - 500_000)).toBeLessThan(30);
  });

  it("stay where they are when some are added", () => {
    const scroller = new Scroller(1000, 32, VIEW);
    scroller.show(500);
    const [first] = scroller.range();
    scroller.resize(2_000_000, 32, VIEW);
    expect(scroller.range()[0]).toBe(first);
  });

  it("show a row that is near without jumping to the middle", () => {
    const scroller = new Scroller(1_000_000, 32, VIEW);
    scroller.show(100);
    const { top } = scroller;
    scroller.show(scroller.range()[1]);
    expect(scroller.top - top).toBeLessThanOrEqual(64);
  });
});
