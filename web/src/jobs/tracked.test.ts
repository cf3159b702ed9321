import { expect, test } from "vitest";
import { activityOf } from "./tracked";

const links = { jobId: "7", title: "Import of links.html", href: "/jobs/7", noun: "link" };
const counters = { total: 500, pending: 380, done: 120, skipped: 0, notFound: 0, error: 0 };

test("a job in the tray says how far it is, and how it has ended", () => {
  const running = activityOf(links, { state: "RUNNING", sealed: true, counters });
  expect(running).toMatchObject({ detail: "120 of 500 links", fraction: 0.24 });
  const filling = activityOf(links, { state: "RUNNING", sealed: false, counters });
  expect(filling.fraction).toBeUndefined();
  const ended = { ...counters, pending: 0, done: 500 };
  expect(activityOf(links, { state: "DONE", sealed: true, counters: ended })).toMatchObject({
    detail: "500 links done.",
    isOver: true,
    isDone: true,
  });
  const failed = { ...ended, done: 499, error: 1 };
  expect(activityOf(links, { state: "FAILED", sealed: true, counters: failed })).toMatchObject({
    detail: "1 link failed.",
    isOver: true,
  });
  const file = activityOf({ ...links, done: "The file is ready." }, { state: "DONE", sealed: true, counters: ended });
  expect([file.detail, file.isDone]).toEqual(["The file is ready.", false]);
});
