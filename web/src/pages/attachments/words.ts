import type { AttachmentFile, AttachmentStatus, Delivery, Instance } from "~/api/attachments";
import { duration } from "~/format";
import { plural, type StatusName } from "~/words";

export const FILE_STATUSES: Record<AttachmentFile["status"], { status: StatusName; word: string }> = {
  PENDING: { status: "PENDING", word: "Waiting" },
  DOWNLOADED: { status: "DONE", word: "Downloaded" },
  FAILED: { status: "ERROR", word: "Failed" },
};

export const VERDICTS: Record<Delivery["verdict"], { status: StatusName; word: string }> = {
  ACCEPTED: { status: "DONE", word: "Accepted" },
  DUPLICATE: { status: "SKIPPED", word: "Duplicate" },
  IGNORED: { status: "SKIPPED", word: "Ignored" },
  CHALLENGE: { status: "DONE", word: "Challenge" },
  REJECTED: { status: "ERROR", word: "Rejected" },
};

export const VOUCHERS: Record<Instance["voucher"], string> = {
  WAITING: "No voucher yet",
  READY: "Voucher",
  PARTIAL: "Partial voucher",
  WITHHELD: "No voucher: some files have failed",
  NONE: "No files",
};

/** What an instance is called. */
export function nameOf({ title, key }: Pick<Instance, "title" | "key">): string {
  return title ?? key;
}

/** How many of the files are there: "2 of 3 files, 1 failed". */
export function filesWords({ files, skipped }: Pick<Instance, "files" | "skipped">): string {
  const total = files.pending + files.downloaded + files.failed;
  if (total === 0) return "No files yet";
  return [
    files.downloaded === total ? plural(total, "file") : `${files.downloaded} of ${plural(total, "file")}`,
    files.failed > 0 && `${files.failed} failed`,
    skipped > 0 && `${skipped} without an address`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** Whether the downloads work, in a sentence. */
export function healthWords(status: AttachmentStatus): string {
  if (!status.isRunning)
    return status.pendingCount > 0
      ? `No worker downloads files, and ${plural(status.pendingCount, "file waits", "files wait")}.`
      : "No worker downloads files. Nothing waits.";
  if (!status.isHealthy)
    return `A worker runs, but ${plural(status.pendingCount, "file waits", "files wait")} and none was tried for a while.`;
  const since = status.upSinceSeconds === null ? "" : ` for ${duration(Math.round(status.upSinceSeconds))}`;
  return status.pendingCount > 0
    ? `A worker has run${since}; ${plural(status.pendingCount, "file waits", "files wait")}.`
    : `A worker has run${since}. Nothing waits.`;
}
