import { Link } from "@tanstack/react-router";
import type { Share } from "~/api/media";
import { bytes } from "~/format";
import { Copy } from "~/ui/copy";
import { Facts } from "~/ui/facts";
import { Pill } from "~/ui/pill";
import { Section } from "~/ui/section";
import { Time } from "~/ui/time";
import { entryWords } from "./card";
import { KIND_WORDS } from "./kinds";
import { fileStatus, playTime } from "./share-words";

export function ShareFacts({ share }: { share: Share }) {
  const { file } = share;
  const { status, word } = fileStatus(share);
  return (
    <Section title="Facts">
      <Facts
        facts={[
          [
            "File",
            <Pill key="file" status={status}>
              {word}
            </Pill>,
          ],
          ["Kind", share.kind && KIND_WORDS[share.kind]],
          ["Entries", share.kind === "playlist" && entryWords(share)],
          ["Length", share.durationS !== null && playTime(share.durationS)],
          ["Size", file && bytes(file.size)],
          ["Picture", share.width && share.height && `${share.width} × ${share.height}`],
          ["Format", [share.container, share.videoCodec, share.audioCodec].filter(Boolean).join(", ")],
          ["Language", share.language],
          ["Published", share.publishedAt && <Time value={share.publishedAt} />],
          ["Added", <Time key="added" value={share.createdAt} />],
          ["Downloaded", share.downloadCompletedAt && <Time value={share.downloadCompletedAt} />],
          ["Attempts", share.downloadAttempts > 1 && share.downloadAttempts],
          [
            "Playlist",
            share.playlistId && (
              <Link to="/media/$id" params={{ id: share.playlistId }}>
                Entry {share.playlistIndex}
              </Link>
            ),
          ],
          [
            "Job",
            share.jobId && (
              <Link to="/jobs/$jobId" params={{ jobId: share.jobId }}>
                {share.jobId}
              </Link>
            ),
          ],
          ["SHA-256", file && <Copy text={file.sha256} label="the hash" />],
        ]}
      />
    </Section>
  );
}
