import { afterEach, beforeEach, expect, it, vi } from "vitest";
import "./press";

let taps: string[];

beforeEach(() => {
  vi.useFakeTimers();
  taps = [];
  document.body.innerHTML = `<ul><li data-press><input type="checkbox"><a href="#x">row</a></li></ul><button>other</button>`;
  for (const each of document.querySelectorAll("a, button"))
    each.addEventListener("click", (event) => {
      event.preventDefault();
      taps.push(each.textContent!);
    });
});
afterEach(() => vi.useRealTimers());

const find = <T extends HTMLElement>(what: string) => document.querySelector<T>(what)!;
const touch = (kind: string) =>
  find("a").dispatchEvent(new PointerEvent(kind, { bubbles: true, pointerType: "touch", isPrimary: true }));

it("selects the row on which a finger rests, and opens nothing", () => {
  touch("pointerdown");
  vi.advanceTimersByTime(600);
  touch("pointerup");
  find("a").click();
  expect([find<HTMLInputElement>("input").checked, taps]).toEqual([true, []]);
});

it("takes nothing from the keys that are pressed after that", () => {
  touch("pointerdown");
  vi.advanceTimersByTime(600);
  touch("pointerup");
  find("button").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  find("button").click(); // as the browser does for Enter
  expect(taps).toEqual(["other"]);
});
