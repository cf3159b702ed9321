import { expect, test } from "vitest";
import type { Setting } from "~/api/admin";
import { environment, quoted } from "./environment";

const setting = (variable: string, value: unknown, more: Partial<Setting> = {}): Setting => ({
  package: null,
  variable,
  value,
  default: null,
  source: "environment",
  isSecret: false,
  meaning: "",
  ...more,
});

test("only what is not the default and not secret", () => {
  const settings = [
    setting("FOREBAY_POOL_SIZE", 8),
    setting("FOREBAY_TRUSTED_PROXIES", ["10.0.0.5"]),
    setting("FOREBAY_TOKEN", "…", { isSecret: true }),
    setting("FOREBAY_LISTEN", true, { source: "default" }),
  ];
  expect(environment(settings)).toBe(`FOREBAY_POOL_SIZE=8\nFOREBAY_TRUSTED_PROXIES='["10.0.0.5"]'`);
  expect(environment([])).toBe("# everything is as by default");
});

test("a shell reads what is meant", () => {
  expect([quoted("/var/lib/forebay"), quoted("two words"), quoted("it's")]).toEqual([
    "/var/lib/forebay",
    "'two words'",
    `'it'\\''s'`,
  ]);
});
