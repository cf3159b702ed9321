import { describe, expect, it } from "vitest";
import samples from "./samples.json";
import { type Reason, say, WORDS } from "./words";

const AT = "2026-05-04T14:00:00Z";

function reason(code: Reason["code"], facts: Reason["facts"] = {}, more: Partial<Reason> = {}): Reason {
  return { code, step: "fetch", since: null, until: null, facts, actions: [], ...more };
}

describe("say", () => {
  it("has words for every code, with the facts that the server gives", () => {
    const said = samples.reasons.map((sample) => say(sample as unknown as Reason, samples.at));
    expect(said).toEqual(samples.reasons.map((sample) => sample.web));
    expect(samples.reasons.map((sample) => sample.code).sort()).toEqual(Object.keys(WORDS).sort());
  });
  it("names the step, the times and the numbers", () => {
    const retry = reason(
      "retry",
      { reason: "timed out", attempt: 2, maxAttempts: 4 },
      { since: "2026-05-04T13:59:20Z", until: "2026-05-04T14:01:20Z" },
    );
    expect(say(retry, AT)).toBe("fetch: failed 40 s ago: timed out; it is tried again in 1 min 20 s (attempt 2 of 4).");
    expect(say(retry, AT, false)).toBe("Failed 40 s ago: timed out; it is tried again in 1 min 20 s (attempt 2 of 4).");
  });
  it("counts the tasks of a job", () => {
    const behind = reason("behind", {
      ahead: 1204,
      aheadExact: true,
      owners: 2,
      share: 0.5,
      tasks: 30,
      tasksExact: false,
    });
    expect(say(behind, AT)).toBe(
      "fetch: in line behind 1,204 tasks of the same owner, who gets 50 % beside 2 other owners (more than 30 tasks).",
    );
  });
  it("says who paused it", () => {
    expect(say(reason("queue_paused", { queue: "media", by: "ada" }, { step: null }), AT)).toBe(
      "The queue media was paused by ada.",
    );
  });
  it("shows a code of a newer server as words", () => {
    expect(say(reason("moon_phase" as Reason["code"]), AT, false)).toBe("Moon phase.");
  });
});
