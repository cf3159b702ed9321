import { expect, it } from "vitest";
import { givenBy } from "./given";

it("the share menu gives an address, or a text that has one", () => {
  expect(givenBy({ url: "https://a.example/", title: "A" }, "")).toEqual({
    url: "https://a.example/",
    title: "A",
    note: "",
  });
  expect(givenBy({ text: "https://a.example/x" }, "")).toEqual({ url: "https://a.example/x", title: "", note: "" });
  expect(givenBy({ text: "Look: https://a.example/x" }, "").url).toBe("https://a.example/x");
});

it("the bookmarklet gives a fragment, which goes before", () => {
  const hash = String(new URLSearchParams({ url: "https://b.example/?q=1&r=2", title: "B", note: "chosen words" }));
  expect(givenBy({ url: "https://a.example/" }, hash)).toEqual({
    url: "https://b.example/?q=1&r=2",
    title: "B",
    note: "chosen words",
  });
});
