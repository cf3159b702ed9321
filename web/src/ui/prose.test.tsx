import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { Prose } from "./prose";

test("what stands between backticks is code, and the rest is text", () => {
  const { container } = render(<Prose text="Run `forebay doctor`, or `x`." />);
  expect(container.textContent).toBe("Run forebay doctor, or x.");
  expect([...container.querySelectorAll("code")].map((each) => each.textContent)).toEqual(["forebay doctor", "x"]);
});
