import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { Markdown } from "./markdown";

test("a text is shown as elements, and HTML in it as text", () => {
  const { container } = render(
    <Markdown
      text={'# Mills\n\n<img src=x onerror="alert(1)"> **old**\n\n- [x] done\n- open\n\n|a|b|\n|-|-|\n|1|2|'}
    />,
  );
  expect(screen.getByRole("heading", { level: 2 }).textContent).toBe("Mills");
  expect(container.querySelector("img")).toBeNull();
  expect(container.querySelector("p")?.textContent).toBe('<img src=x onerror="alert(1)"> old');
  expect(screen.getByRole("img", { name: "done:" })).toBeTruthy();
  expect(screen.getAllByRole("cell").map((cell) => cell.textContent)).toEqual(["1", "2"]);
});

test("links open elsewhere and tell nothing; pictures are links, and scripts are text", () => {
  render(<Markdown text={"[page](https://x.example) [bad](javascript:alert(1)) ![wheel](https://x.example/w.png)"} />);
  const links = screen.getAllByRole("link");
  expect(links.map((link) => [link.textContent, link.getAttribute("href"), link.getAttribute("rel")])).toEqual([
    ["page", "https://x.example", "noreferrer nofollow"],
    ["Picture: wheel", "https://x.example/w.png", "noreferrer nofollow"],
  ]);
});
