import { House } from "lucide-react";
import { expect, test } from "vitest";
import { folders } from "~/pages/all";
import type { Command } from "./commands";
import { commandOf, isInField } from "./keys";
import { found } from "./palette";
import { entriesFor, type RailEntry } from "./rail";

const go = (id: string, title: string, keys?: string, hidden?: boolean): Command => ({
  id,
  title,
  keys,
  hidden,
  group: "Go to",
  run: () => {},
});

test("a key in a row waits for the next one", () => {
  const commands = [go("h", "Home", "g h"), go("j", "Jobs", "g j"), go("x", "Select", "x")];
  expect(commandOf(commands, ["g"])).toBe(true);
  expect(commandOf(commands, ["g", "j"])).toBe(commands[1]);
  expect(commandOf(commands, ["x"])).toBe(commands[2]);
  expect(commandOf(commands, ["g", "q"])).toBeUndefined();
});

test("keys belong to text fields, not to check boxes", () => {
  const input = document.createElement("input");
  expect(isInField(input)).toBe(true);
  input.type = "checkbox";
  expect(isInField(input)).toBe(false);
  expect(isInField(document.createElement("textarea"))).toBe(true);
  expect(isInField(document.body)).toBe(false);
});

test("the palette finds words anywhere, the begin of a title first, and each command once", () => {
  const commands = [
    go("a", "Dead letters"),
    go("b", "Letters"),
    go("c", "Jobs"),
    go("b", "Letters"),
    go("d", "Letter", undefined, true),
  ];
  expect(found(commands, "lett").map((each) => each.id)).toEqual(["b", "a"]);
  expect(found(commands, "").map((each) => each.id)).toEqual(["a", "b", "c"]);
  expect(found(commands, "nothing")).toEqual([]);
});

test("the rail has what the server has, and the generic page for other pipelines", () => {
  const entry = (to: string, more: Partial<RailEntry>): RailEntry => ({
    to,
    title: to,
    icon: House,
    section: "content",
    ...more,
  });
  const known = [
    entry("/", {}),
    entry("/bookmarks", { package: "bookmarks" }),
    entry("/sheets", { package: "sheets" }),
    entry("/pending", { feature: "pending", section: "work" }),
    entry("/admin", { isAdmin: true, section: "operations" }),
  ];
  const pipeline = (name: string, ofPackage: string | null, internal = false) => ({
    name,
    title: name,
    noun: "item",
    package: ofPackage,
    internal,
    steps: [],
    inputSchema: {},
  });
  const app = {
    me: { name: "ann", role: "user" as const, kind: "session" as const, scopes: [] },
    version: "1",
    features: { pending: false },
    limits: { page: 1, uploadBytes: 1, items: 1, streams: 1, linkS: 1 },
    pipelines: [pipeline("bookmarks", "bookmarks"), pipeline("texts", null), pipeline("chores", null, true)],
    problems: 0,
    eventId: "",
  };
  expect(entriesFor(app, known).map((each) => each.to)).toEqual(["/", "/bookmarks", "/pipelines/texts"]);
});

test("no two pages have the same key", () => {
  const keys = folders.flatMap(({ rail = [] }) => rail.flatMap(({ key }) => key ?? []));
  expect(keys.filter((key, place) => keys.indexOf(key) !== place)).toEqual([]);
});
