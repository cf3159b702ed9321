import { QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { queryClient } from "~/api/client";
import type { ItemRow } from "~/api/items";
import { Toasts } from "~/shell/toasts";
import { Selection } from "./selection";

const row = (jobId: string, id: string, status: ItemRow["status"]) => ({ jobId, id, status }) as ItemRow;
const requests: string[] = [];
let status = 200;

beforeEach(() => {
  vi.useFakeTimers();
  requests.length = 0;
  status = 200;
  vi.stubGlobal("fetch", async (request: Request) => {
    requests.push(new URL(request.url).pathname);
    return Response.json(status === 200 ? { items: 1, changed: true } : { status, detail: "it is busy" }, { status });
  });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function shown(rows: ItemRow[]) {
  return (
    <QueryClientProvider client={queryClient}>
      <Toasts />
      <Selection rows={rows} onDone={() => {}} />
    </QueryClientProvider>
  );
}

const press = (name: string) => act(async () => fireEvent.click(screen.getByRole("button", { name })));
const wait = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

it("runs items of several jobs again, unless that is undone", async () => {
  render(shown([row("1", "3", "ERROR"), row("2", "5", "DONE")]));
  await press("Reprocess selected");
  await wait(3000);
  await press("Undo");
  await wait(10_000);
  expect(requests).toEqual([]);
  await press("Reprocess selected");
  await wait(7000);
  expect(requests).toEqual(["/api/jobs/1/reprocess", "/api/jobs/2/reprocess"]);
});

it("says what failed when the items are no longer selected, and repeats it for the same ones", async () => {
  const { rerender } = render(shown([row("1", "3", "PENDING")]));
  status = 409;
  await press("Pause");
  await wait(100);
  rerender(shown([row("2", "5", "PENDING")]));
  await press("Try again");
  await wait(100);
  rerender(shown([]));
  expect(screen.getByText("Not all items were changed.")).toBeTruthy();
  expect(requests).toEqual(["/api/jobs/1/items/3/pause", "/api/jobs/1/items/3/pause"]);
});

it("can be asked again for an undo that failed", async () => {
  render(shown([row("1", "3", "PENDING")]));
  await press("Pause");
  await wait(100);
  status = 409;
  await press("Undo");
  await wait(60_000);
  expect(screen.getByText("It could not be undone. It is busy.")).toBeTruthy();
});
