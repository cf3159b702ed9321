import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { queryClient } from "~/api/client";
import { ProblemError, unreachable } from "~/api/problem";
import Unreachable from "./unreachable";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function show(error: Error) {
  const component = () => <Unreachable error={error} reset={() => {}} />;
  const router = createRouter({ routeTree: createRootRoute({ component }), history: createMemoryHistory() });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await screen.findByRole("heading");
}

it("says that a link could not be kept, and leaves it in its field", async () => {
  const failed = { error: new Error("the disk is full"), onerror: () => {} };
  const open = () => {
    queueMicrotask(() => failed.onerror());
    return failed;
  };
  vi.stubGlobal("indexedDB", { open });
  await show(unreachable());
  const field = screen.getByLabelText<HTMLInputElement>("Save a link");
  fireEvent.change(field, { target: { value: "https://example.org/" } });
  await act(async () => fireEvent.click(screen.getByRole("button", { name: "Save" })));
  expect(screen.getByText(/not kept/).textContent).toBe("It was not kept: the disk is full.");
  expect(field.value).toBe("https://example.org/");
});

it("blames the connection only if there was no answer", async () => {
  await show(unreachable());
  expect(screen.getByRole("heading").textContent).toBe("There is no connection");
  cleanup();
  await show(new ProblemError({ status: 500, detail: "something went wrong", requestId: "0a1b" }));
  expect(screen.getByRole("heading").textContent).toBe("The app cannot start");
  expect(document.body.textContent).toContain("0a1b");
});
