import { act, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { Tray } from "~/shell/tray-view";
import { showInterrupted } from "./interrupted";
import { begun, remember } from "./memory";

afterEach(() => vi.unstubAllGlobals());

test("an interrupted upload is shown although the server does not answer", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no network")));
  for (const id of ["1", "2"])
    remember({ id, jobId: "7", name: `prices ${id}.csv`, size: 4000, changed: 1, sent: 2000 });
  render(<Tray />);
  await act(() => showInterrupted());
  expect(screen.getByText("prices 1.csv")).toBeTruthy();
  expect(screen.getByText("prices 2.csv")).toBeTruthy();
  expect(begun()).toHaveLength(2);
});
