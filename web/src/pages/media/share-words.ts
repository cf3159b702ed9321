import type { Share } from "~/api/media";
import { bytes, duration, host } from "~/format";
import type { StatusName } from "~/words";

type Progress = NonNullable<Share["progress"]>;

/** The title, or the link until the title is known. */
export function titleOf(share: Pick<Share, "title" | "url">): string {
  return share.title ?? share.url?.replace(/^https?:\/\/(www\.)?/, "") ?? "A file of yours";
}

/** Who made it, or where it is from. */
export function sourceOf(share: Pick<Share, "author" | "site" | "url">): string {
  return [share.author, share.site ?? (share.url && host(share.url))].filter(Boolean).join(", ");
}

/** 4:05, or 1:02:03: as players show it. */
export function playTime(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const parts = [Math.floor(whole / 60) % 60, whole % 60].map((part, at) =>
    at ? String(part).padStart(2, "0") : part,
  );
  const hours = Math.floor(whole / 3600);
  return hours ? `${hours}:${String(parts[0]).padStart(2, "0")}:${parts[1]}` : parts.join(":");
}

/** The status and the word of the file, whatever step works on it. */
export function fileStatus({ fileState }: Pick<Share, "fileState">): { status: StatusName; word: string } {
  switch (fileState) {
    case "waiting":
      return { status: "PENDING", word: "Waiting" };
    case "downloading":
      return { status: "PROCESSING", word: "Downloading" };
    case "retrying":
      return { status: "SNOOZED", word: "Retrying" };
    case "ready":
      return { status: "DONE", word: "Ready" };
    case "failed":
      return { status: "ERROR", word: "Failed" };
    case "removed":
      return { status: "SKIPPED", word: "File removed" };
    case "none":
      return { status: "DONE", word: "Playlist" };
  }
}

/** "12.3 MB of 40 MB, 2.1 MB/s, 13 s left", with what is known of it. */
export function progressWords(progress: Progress, now = Date.now()): string {
  const { bytesDone, bytesTotal, bytesPerSecond, endsAt, note, fraction } = progress;
  if (bytesDone === null || bytesDone === undefined) {
    const far = fraction === null ? undefined : `${Math.round(fraction * 100)} %`;
    return [note ?? progress.step, far].filter(Boolean).join(", ");
  }
  const left = endsAt ? (Date.parse(endsAt) - now) / 1000 : undefined;
  return [
    bytesTotal ? `${bytes(bytesDone)} of ${bytes(bytesTotal)}` : bytes(bytesDone),
    bytesPerSecond && `${bytes(bytesPerSecond)}/s`,
    left !== undefined && left > 0 && `${duration(Math.ceil(left))} left`,
  ]
    .filter(Boolean)
    .join(", ");
}
