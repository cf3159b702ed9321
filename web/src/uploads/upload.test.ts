import { beforeEach, describe, expect, it } from "vitest";
import { begun, begunFor, forget, remember } from "./memory";
import { base64 } from "./tus";
import { type Upload, uploadWords } from "./upload";

const UPLOAD: Upload = {
  id: "1",
  jobId: "2",
  name: "a.csv",
  size: 4_000_000,
  sent: 1_000_000,
  speed: 500_000,
  state: "sending",
};

describe("uploads", () => {
  beforeEach(() => localStorage.clear());

  it("encode names in any script", () => {
    expect(new TextDecoder().decode(Uint8Array.from(atob(base64("Größe 価格.csv")), (c) => c.charCodeAt(0)))).toBe(
      "Größe 価格.csv",
    );
  });

  it("say how far they are", () => {
    expect(uploadWords(UPLOAD)).toBe("1.0 MB of 4.0 MB, 500 kB/s, 6 s left");
    expect(uploadWords({ ...UPLOAD, state: "waiting", why: "the server cannot be reached" })).toBe(
      "1.0 MB of 4.0 MB, waiting for the connection: the server cannot be reached",
    );
  });

  it("are found again by the same file only", () => {
    const file = new File(["abc"], "a.csv", { lastModified: 5 });
    remember({ id: "1", jobId: "2", name: "a.csv", size: 3, changed: 5, sent: 0 });
    expect(begunFor(file)?.id).toBe("1");
    expect(begunFor(new File(["abc"], "a.csv", { lastModified: 6 }))).toBeUndefined();
    expect(begunFor(new File(["abcd"], "a.csv", { lastModified: 5 }))).toBeUndefined();
    forget("1");
    expect(begun()).toEqual([]);
  });
});
