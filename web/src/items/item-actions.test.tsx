import { QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { queryClient } from "~/api/client";
import type { Item } from "~/api/items";
import { allCommands } from "~/shell/commands";
import { Toasts } from "~/shell/toasts";
import { ItemActions } from "./item-actions";

const item = { jobId: "7", id: "3", status: "ERROR", steps: [] } as unknown as Item;
const requests: string[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  requests.length = 0;
  vi.stubGlobal("fetch", async (request: Request) => {
    requests.push(`${request.method} ${new URL(request.url).pathname}`);
    return Response.json({ status: 409, detail: "the job is being deleted" }, { status: 409 });
  });
  render(<Toasts />);
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function show() {
  return render(
    <QueryClientProvider client={queryClient}>
      <ItemActions item={item} />
    </QueryClientProvider>,
  );
}

it("runs an item again once, however often its key is pressed", async () => {
  show();
  for (let pressed = 0; pressed < 3; pressed++) {
    act(() =>
      allCommands()
        .find(({ id }) => id === "item-again")
        ?.run(),
    );
    await act(() => vi.advanceTimersByTimeAsync(1000));
  }
  await act(() => vi.advanceTimersByTimeAsync(20_000));
  expect(requests).toEqual(["POST /api/jobs/7/reprocess"]);
});

it("says that an item was not run again, also after its panel was closed", async () => {
  const { unmount } = show();
  act(() => void fireEvent.click(screen.getByRole("button", { name: /Run again/ })));
  unmount();
  await act(() => vi.advanceTimersByTimeAsync(20_000));
  expect(screen.getByText("It was not started again. The job is being deleted.")).toBeTruthy();
});
