import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keep, kept, unsent } from "./kept";
import { currentLook } from "./look";
import { fitting, follow, synchronize } from "./preferences";

let account: { value: Record<string, unknown>; updatedAt: string | null };
let isReachable: boolean;
let onPut: (() => void) | undefined;

beforeEach(() => {
  vi.useFakeTimers();
  localStorage.clear();
  account = { value: {}, updatedAt: null };
  isReachable = true;
  onPut = undefined;
  vi.stubGlobal("fetch", async (request: Request) => {
    if (!isReachable) throw new TypeError("no network");
    if (request.method === "PUT") {
      account = { value: (await request.json()) as Record<string, unknown>, updatedAt: "2026-05-04T14:00:00Z" };
      onPut?.();
      onPut = undefined;
    }
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

test("a choice that is changed while the one before it is being sent is sent as well", async () => {
  const stop = follow("ann");
  await vi.advanceTimersByTimeAsync(0);
  onPut = () => keep("look", { theme: "dark" });
  keep("look", { theme: "light" });
  await vi.advanceTimersByTimeAsync(5000);
  expect([account.value, unsent()]).toEqual([{ look: { theme: "dark" } }, []]);
  stop();
});

test("choices of somebody else that were not sent stay here, also if their account could not be read at first", async () => {
  await synchronize("ann");
  keep("reader", { size: 1.5 }); // ann's
  account = { value: {}, updatedAt: "2026-05-04T13:00:00Z" }; // bob's
  isReachable = false;
  const stop = follow("bob");
  await vi.advanceTimersByTimeAsync(0);
  isReachable = true;
  keep("look", { theme: "dark" });
  await vi.advanceTimersByTimeAsync(2000);
  expect(account.value).not.toHaveProperty("reader");
  stop();
});

test("arrangements of wide sheets are left out, as far as the account has no place for them", () => {
  const order = Array.from({ length: 60 }, (_, n) => `row.Attribute ${n} of the variánt`);
  const columns = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`columns.${n}x`, { order }]));
  const sent = fitting({ look: { theme: "dark" }, ...columns });
  expect(new TextEncoder().encode(JSON.stringify(sent)).length).toBeLessThan(16 * 1024);
  expect(Object.keys(sent)).toEqual(expect.arrayContaining(["look", "columns.19x"]));
});

test("the oldest arrangements of columns are left out", () => {
  const columns = Object.fromEntries(Array.from({ length: 45 }, (_, n) => [`columns.${n}x`, { hidden: [] }]));
  const names = Object.keys(fitting({ look: {}, ...columns }));
  expect([names.length, names[0], names[1]]).toEqual([41, "look", "columns.5x"]);
});
