import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, renderHook, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useHeld } from "./held";
import { Toasts } from "./toasts";

const send = vi.fn<(count: number) => Promise<unknown>>();

beforeEach(() => {
  vi.useFakeTimers();
  send.mockReset().mockResolvedValue(undefined);
  render(<Toasts />);
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

function hold() {
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  return renderHook(() => useHeld({ words: (count: number) => `${count} run again.`, what: "None runs.", send }), {
    wrapper,
  });
}

it("is sent once, however often it is pressed meanwhile", async () => {
  const { result } = hold();
  act(() => result.current.mutate(3));
  await act(() => vi.advanceTimersByTimeAsync(3000));
  act(() => result.current.mutate(3));
  await act(() => vi.advanceTimersByTimeAsync(20_000));
  expect(send.mock.calls).toEqual([[3]]);
  expect([result.current.isPending, result.current.data]).toEqual([false, true]);
});

it("tells an error at its place, and by a toast if its place was left", async () => {
  send.mockRejectedValue(new Error("the job is gone"));
  const { result, unmount } = hold();
  act(() => result.current.mutate(3));
  await act(() => vi.advanceTimersByTimeAsync(6100));
  expect(result.current.error?.message).toBe("the job is gone");
  expect(screen.queryByText(/None runs/)).toBeNull();
  act(() => result.current.mutate(3));
  unmount();
  await act(() => vi.advanceTimersByTimeAsync(20_000));
  expect(screen.getByText("None runs. The job is gone.")).toBeTruthy();
  send.mockReset().mockResolvedValue(undefined);
  await act(async () => fireEvent.click(screen.getByRole("button", { name: "Try again" })));
  expect(send.mock.calls).toEqual([[3]]);
  expect(screen.queryByText(/None runs/)).toBeNull();
});
