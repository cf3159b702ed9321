import { expect, test } from "vitest";
import type { Owner } from "~/api/admin";
import { limitChanges, limitTexts } from "./owner-limits";

const owner = {
  openJobs: { most: 100, isDefault: true, used: 3 },
  openItems: { most: 5000, isDefault: false, used: 9 },
  submitsPerMinute: { most: 60, isDefault: true, used: null },
} as Owner;

test("only what was changed is sent, and an empty field is the limit of the settings", () => {
  const texts = limitTexts(owner);
  expect(texts).toEqual({ maxOpenJobs: "", maxOpenItems: "5000", submitsPerMinute: "" });
  expect(limitChanges(owner, texts)).toEqual({});
  expect(limitChanges(owner, { ...texts, maxOpenItems: " ", submitsPerMinute: "7" })).toEqual({
    maxOpenItems: null,
    submitsPerMinute: 7,
  });
});
