import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ProblemError } from "~/api/problem";
import { Failed } from "./failed";

afterEach(cleanup);

function shown(error: Error) {
  const action = { error, variables: "pause", mutate: vi.fn(), reset: vi.fn() };
  render(<Failed of={action} what="It was not paused." />);
  return action;
}

describe("Failed", () => {
  it("says what failed, why, what to do and the number of the request, and tries again", () => {
    const action = shown(new ProblemError({ status: 409, detail: "item: is running", requestId: "0a1b2c" }));
    expect(screen.getByRole("alert").textContent).toContain(
      "It was not paused.Item: is running. It has changed meanwhile: look at how it is now.Request 0a1b2c",
    );
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(action.mutate).toHaveBeenCalledWith("pause");
    fireEvent.click(screen.getByRole("button", { name: "Close" }));
    expect(action.reset).toHaveBeenCalled();
  });
  it("waits as long as the server wants", () => {
    shown(new ProblemError({ status: 503, detail: "busy" }, 4));
    expect(screen.getByRole<HTMLButtonElement>("button", { name: /Try again \(in 4 seconds\)/ }).disabled).toBe(true);
  });
  it.each([403, 404, 410])("offers no repetition where none helps: %i", (status) => {
    shown(new ProblemError({ status, detail: "no" }));
    expect(screen.queryByRole("button", { name: /Try again/ })).toBeNull();
  });
});
