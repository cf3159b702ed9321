import { expect, test } from "vitest";
import { isOwnKey } from "./keys";

const made = (html: string) => new DOMParser().parseFromString(html, "text/html").body.firstElementChild;

test("a focused control keeps its own keys, and lists get the others", () => {
  const [link, button, slider] = ['<a href="/">x</a>', "<button>x</button>", '<input type="range">'].map(made);
  expect([isOwnKey(link!, "Enter"), isOwnKey(button!, "Enter"), isOwnKey(button!, " ")]).toEqual([true, true, true]);
  expect([isOwnKey(slider!, "ArrowDown"), isOwnKey(slider!, "End")]).toEqual([true, true]);
  expect([isOwnKey(slider!, "Enter"), isOwnKey(button!, "ArrowDown"), isOwnKey(link!, "j")]).toEqual([
    false,
    false,
    false,
  ]);
  expect(isOwnKey(made("<h1>x</h1>"), "Enter")).toBe(false);
});
