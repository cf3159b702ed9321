import { expect, test } from "vitest";
import { runsAgain, sentence } from "./words";

test("a sentence begins with a capital letter, or with an address as it is", () => {
  expect(sentence("the server answers 410")).toBe("The server answers 410.");
  expect(sentence("https://example.org/a answered 404 Not Found")).toBe(
    "https://example.org/a answered 404 Not Found.",
  );
});

test("what runs again is one or many", () => {
  expect(runsAgain(1, "link")).toBe("1 link runs again.");
  expect(runsAgain(2, "item", " of 1 job")).toBe("2 items of 1 job run again.");
});
