import { expect, it } from "vitest";
import { decode } from "./blurhash";

it("a hash of one colour is that colour", () => {
  const pixels = decode("00TNoS", 2, 2); // the mean #ff8000 alone
  expect(pixels && [...pixels.slice(0, 4)]).toEqual([255, 128, 0, 255]);
});

it("a hash with details has as many pixels as asked for", () => {
  const pixels = decode("LEHV6nWB2yk8pyo0adR*.7kCMdnj", 4, 3)!;
  expect(pixels.length).toBe(48);
  expect(new Set(pixels).size).toBeGreaterThan(8);
});

it("what is no hash has no pixels", () => {
  expect(decode("", 4, 3)).toBeUndefined();
  expect(decode("LEHV6", 4, 3)).toBeUndefined();
  expect(decode("äEHV6nWB2yk8pyo0adR*.7kCMdnj", 4, 3)).toBeUndefined();
});
