import { describe, expect, it } from "vitest";
import { filesWords, healthWords, nameOf } from "./words";

const STATUS = {
  isRunning: true,
  lastProcessed: null,
  pendingCount: 0,
  processedCount: 0,
  failedCount: 0,
  upSinceSeconds: 60,
  isHealthy: true,
  lastError: null,
};

describe("words of attachments", () => {
  it("counts files", () => {
    expect(filesWords({ files: { pending: 0, downloaded: 0, failed: 0 }, skipped: 0 })).toBe("No files yet");
    expect(filesWords({ files: { pending: 0, downloaded: 3, failed: 0 }, skipped: 0 })).toBe("3 files");
    expect(filesWords({ files: { pending: 1, downloaded: 1, failed: 1 }, skipped: 2 })).toBe(
      "1 of 3 files, 1 failed, 2 without an address",
    );
  });

  it("says whether downloads work", () => {
    expect(healthWords(STATUS)).toBe("A worker has run for 1 min. Nothing waits.");
    expect(healthWords({ ...STATUS, isRunning: false, isHealthy: false, pendingCount: 1 })).toBe(
      "No worker downloads files, and 1 file waits.",
    );
    expect(healthWords({ ...STATUS, isHealthy: false, pendingCount: 2 })).toBe(
      "A worker runs, but 2 files wait and none was tried for a while.",
    );
  });

  it("names what has no title by its key", () => {
    expect(nameOf({ title: null, key: "81D3" })).toBe("81D3");
  });
});
