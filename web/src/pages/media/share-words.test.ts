import { describe, expect, it } from "vitest";
import { playTime, progressWords, sourceOf, titleOf } from "./share-words";

const PROGRESS = { step: "download", fraction: null, note: null, bytesDone: null, bytesTotal: null };

describe("words of a share", () => {
  it("shows times as players do", () => {
    expect([0, 5.9, 65, 3723].map(playTime)).toEqual(["0:00", "0:05", "1:05", "1:02:03"]);
  });

  it("names what has no title by its link", () => {
    expect(titleOf({ title: null, url: "https://www.example.org/v/1" })).toBe("example.org/v/1");
    expect(titleOf({ title: null, url: null })).toBe("A file of yours");
    expect(sourceOf({ author: "Ada", site: null, url: "https://www.example.org/v/1" })).toBe("Ada, example.org");
  });

  it("says how far a download is, with what is known", () => {
    const at = Date.parse("2026-01-01T00:00:00Z");
    const whole = {
      ...PROGRESS,
      bytesDone: 12_300_000,
      bytesTotal: 40_000_000,
      bytesPerSecond: 2_100_000,
      endsAt: "2026-01-01T00:00:13Z",
    };
    expect(progressWords(whole, at)).toBe("12.3 MB of 40.0 MB, 2.1 MB/s, 13 s left");
    expect(progressWords({ ...whole, bytesTotal: null, endsAt: null }, at)).toBe("12.3 MB, 2.1 MB/s");
    expect(progressWords({ ...PROGRESS, step: "probe", note: "looking at the link" })).toBe("looking at the link");
    expect(progressWords({ ...PROGRESS, step: "transcribe", fraction: 0.4 })).toBe("transcribe, 40 %");
  });
});
