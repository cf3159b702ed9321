import { act, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { putActivity } from "./tray";
import { Tray } from "./tray-view";

test("what has ended well leaves by itself, what has failed stays", () => {
  vi.useFakeTimers();
  render(<Tray />);
  act(() => {
    putActivity({ id: "1", title: "prices.csv", isOver: true, isDone: true });
    putActivity({ id: "2", title: "names.csv", detail: "it failed", isOver: true });
  });
  expect(screen.getByText("prices.csv")).toBeTruthy();
  act(() => vi.advanceTimersByTime(6000));
  expect(screen.queryByText("prices.csv")).toBeNull();
  expect(screen.getByText("names.csv")).toBeTruthy();
  vi.useRealTimers();
});
