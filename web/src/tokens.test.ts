import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const css = readFileSync(resolve(import.meta.dirname, "tokens.css"), "utf8");
const colours = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(([, name, light, dark]) => [
    name!,
    { light: light!, dark: dark! },
  ]),
);

function luminance(colour: string): number {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high! + 0.05) / (low! + 0.05);
}

const SCHEMES = ["light", "dark"] as const;
const STATUSES = ["wait", "run", "done", "notfound", "error", "pause", "throttle"];

test("every text has a contrast of 4.5 on what it stands on", () => {
  for (const scheme of SCHEMES) {
    const on = (text: string, ground: string) => contrast(colours.get(text)![scheme], colours.get(ground)![scheme]);
    for (const text of ["text", "muted", "accent", ...STATUSES]) {
      for (const ground of ["page", "panel"])
        expect(on(text, ground), `${text} on ${ground}, ${scheme}`).toBeGreaterThanOrEqual(4.5);
    }
    for (const ground of ["sunken", "hover", "chosen", "run-tint"])
      expect(on("muted", ground), `muted on ${ground}, ${scheme}`).toBeGreaterThanOrEqual(4.5);
    for (const status of STATUSES)
      expect(on(status, `${status}-tint`), `${status} on its tint, ${scheme}`).toBeGreaterThanOrEqual(4.5);
    for (const text of ["text", "error"])
      expect(on(text, "control"), `${text} on control, ${scheme}`).toBeGreaterThanOrEqual(4.5);
    expect(on("on-accent", "accent"), `on accent, ${scheme}`).toBeGreaterThanOrEqual(4.5);
  }
});

test("every solid colour has a contrast of 3 on panels", () => {
  for (const scheme of SCHEMES) {
    for (const solid of [...STATUSES.map((status) => `${status}-solid`), "line-strong"]) {
      expect(
        contrast(colours.get(solid)![scheme], colours.get("panel")![scheme]),
        `${solid}, ${scheme}`,
      ).toBeGreaterThanOrEqual(3);
    }
  }
});
