import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ProblemError } from "~/api/problem";
import { failedToast, held, Toasts, toast } from "./toasts";

beforeEach(() => {
  vi.useFakeTimers();
  render(<Toasts />);
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  Object.defineProperty(document, "hidden", { configurable: true, value: false });
});

function hold() {
  const sent = vi.fn();
  act(() => void held("3 items run again.").then(sent));
  return sent;
}

describe("held", () => {
  it("is sent when its toast has been seen for its time", async () => {
    const sent = hold();
    expect(screen.getByText("3 items run again.")).toBeTruthy();
    await act(() => vi.advanceTimersByTimeAsync(5900));
    expect(sent).not.toHaveBeenCalled();
    await act(() => vi.advanceTimersByTimeAsync(200));
    expect(sent).toHaveBeenCalledWith(true);
  });
  it("is not sent after Undo", async () => {
    const sent = hold();
    fireEvent.click(screen.getByRole("button", { name: "Undo" }));
    await act(() => vi.advanceTimersByTimeAsync(7000));
    expect(sent.mock.calls).toEqual([[false]]);
  });
  it("is sent at once when the page is left", async () => {
    const sent = hold();
    Object.defineProperty(document, "hidden", { configurable: true, value: true });
    document.dispatchEvent(new Event("visibilitychange"));
    await act(() => vi.advanceTimersByTimeAsync(0));
    expect(sent.mock.calls).toEqual([[true]]);
  });
});

it("keeps what could not be undone until it is tried again, with the number of the request", async () => {
  const retry = vi.fn();
  act(() => failedToast("It could not be undone.", new ProblemError({ status: 500, requestId: "0a1b" }), retry));
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  expect(screen.getByText(/^It could not be undone\. .*\(request 0a1b\)$/)).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(retry).toHaveBeenCalled();
});

it("does not give way to other toasts, and can be put away", async () => {
  act(() => failedToast("It could not be undone.", new Error("no answer"), vi.fn()));
  for (const words of ["One.", "Two.", "Three."]) act(() => toast(words));
  expect(screen.getByText("It could not be undone. No answer.")).toBeTruthy();
  expect([screen.queryByText("One."), screen.queryByText("Three.") !== null]).toEqual([null, true]);
  fireEvent.click(screen.getByRole("button", { name: "Put away" }));
  expect(screen.queryByText("It could not be undone. No answer.")).toBeNull();
});
