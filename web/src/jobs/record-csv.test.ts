import { describe, expect, it } from "vitest";
import type { Schema } from "~/api/client";
import { recordCsv } from "./record-csv";

describe("the record as a table", () => {
  it("has actions and attempts in the order of time, and no formulas", () => {
    const audit = [{ at: "2026-01-01T12:00:02Z", actor: "ann", action: "pause", itemId: null, detail: null }];
    const attempts = [
      { endedAt: "2026-01-01T12:00:01Z", worker: "w1", step: "fetch", itemId: "7", attempt: 1, outcome: "ERROR" },
    ].map((row) => ({ ...row, reason: '=cmd, "x"' }));
    const found = recordCsv({
      audit: audit as unknown as Schema<"AuditRow">[],
      attempts: attempts as unknown as Schema<"Attempt">[],
    });
    expect(found.split("\r\n")).toEqual([
      "at,kind,who,what,item,attempt,outcome,reason",
      `2026-01-01T12:00:01Z,attempt,w1,fetch,7,1,ERROR,"'=cmd, ""x"""`,
      "2026-01-01T12:00:02Z,action,ann,pause,,,,",
    ]);
  });

  it.each([
    ["-1+cmd", "'-1+cmd"],
    ["'=cmd", "''=cmd"],
    ["\uff1dcmd", "'\uff1dcmd"],
    ["not found;=cmd", "not found;'=cmd"],
    ["not found\t@cmd", "not found\t'@cmd"],
    ["a = b; c", "a = b; c"],
  ])("escapes what a spreadsheet would run, as exports do: %j", (reason, shown) => {
    const row = { endedAt: "2026-01-01T12:00:01Z", worker: "w", step: "s", itemId: "7", attempt: 1, outcome: "ERROR" };
    const found = recordCsv({ audit: [], attempts: [{ ...row, reason }] as unknown as Schema<"Attempt">[] });
    expect(found.split("\r\n")[1]!.split(",").at(-1)).toBe(shown);
  });
});
