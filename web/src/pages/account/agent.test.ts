import { expect, test } from "vitest";
import { agentWords } from "./agent";

test("browsers have names", () => {
  const chrome =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0 Safari/537.36";
  expect(agentWords(chrome)).toBe("Chrome on Linux");
  expect(agentWords(`${chrome} Edg/140.0`)).toBe("Edge on Linux");
  expect(agentWords("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1")).toBe(
    "Safari on iOS",
  );
  expect(agentWords("curl/8.9")).toBe("curl/8.9");
  expect(agentWords(null)).toBe("Unknown program");
});
