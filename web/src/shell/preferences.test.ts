import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keep, kept, unsent } from "./kept";
import { currentLook } from "./look";
import { fitting, follow, synchronize } from "./preferences";

let account: { value: Record<string, unknown>; updatedAt: string | null };
let isReachable: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  account = { value: {}, updatedAt: null };
  isReachable = true;
  vi.stubGlobal("fetch", async (request: Request) => {
    if (!isReachable) throw new TypeError("no network");
    if (request.method === "PUT")
      account = { value: (await request.json()) as Record<string, unknown>, updatedAt: "2026-05-04T14:00:00Z" };
    return Response.json(account);
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("choices of this device become those of the account, and come to another browser", async () => {
  keep("look", { theme: "dark" });
  await synchronize("ann");
  expect(account.value).toEqual({ look: { theme: "dark" } });
  expect(unsent()).toEqual([]);
  localStorage.clear(); // another browser
  await synchronize("ann");
  expect(kept("look")).toEqual({ theme: "dark" });
  expect(currentLook().theme).toBe("dark"); // what is shown changes as well
});

test("what was chosen without a network is sent when there is one, and what another device has changed stays", async () => {
  account = { value: { reader: { size: 1 }, look: { theme: "light" } }, updatedAt: "2026-05-04T13:00:00Z" };
  isReachable = false;
  const stop = follow("ann");
  keep("look", { theme: "dark" });
  await vi.advanceTimersByTimeAsync(2000);
  expect(unsent()).toEqual(["look"]);
  isReachable = true;
  dispatchEvent(new Event("online"));
  await vi.advanceTimersByTimeAsync(2000);
  expect(account.value).toEqual({ reader: { size: 1 }, look: { theme: "dark" } });
  expect(kept("reader")).toEqual({ size: 1 });
  stop();
});

test("who signs in at somebody else's device gets own choices, and sends none of the other's", async () => {
  keep("look", { theme: "dark" });
  await synchronize("ann");
  keep("look", { theme: "light" });
  account = { value: { reader: { size: 1.5 } }, updatedAt: "2026-05-04T13:00:00Z" }; // bob's
  await synchronize("bob");
  expect([kept("look"), kept("reader")]).toEqual([undefined, { size: 1.5 }]);
  expect(account.value).toEqual({ reader: { size: 1.5 } });
});

test("the oldest arrangements of columns are left out", () => {
  const columns = Object.fromEntries(Array.from({ length: 45 }, (_, n) => [`columns.${n}x`, { hidden: [] }]));
  const names = Object.keys(fitting({ look: {}, ...columns }));
  expect([names.length, names[0], names[1]]).toEqual([41, "look", "columns.5x"]);
});
