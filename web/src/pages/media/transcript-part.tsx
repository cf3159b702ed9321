import { useQuery } from "@tanstack/react-query";
import type { RefObject } from "react";
import { type Share, transcriptQuery } from "~/api/media";
import { Loaded } from "~/shell/trouble";
import { buttonClass } from "~/ui/button";
import { Section } from "~/ui/section";
import { Skeleton } from "~/ui/skeleton";
import { sentence } from "~/words";
import type { PlayerHandle } from "./player";
import { Transcript } from "./transcript";

const FORMATS = ["srt", "vtt", "txt"] as const;

interface TranscriptPartProps {
  share: Share;
  player: RefObject<PlayerHandle | null>;
  search: string | undefined;
}

/** What is said in a share, or why it is not known yet. */
export function TranscriptPart({ share, player, search }: TranscriptPartProps) {
  if (share.kind !== "video" && share.kind !== "audio") return null;
  if (!share.transcript) {
    const why = missingWords(share);
    return why ? (
      <Section title="Transcript">
        <p className="muted">{why}</p>
      </Section>
    ) : null;
  }
  return (
    <Section
      title="Transcript"
      beside={
        <span className="row">
          {FORMATS.map((format) => (
            <a key={format} href={`${share.transcript}.${format}`} download className={buttonClass("plain")}>
              {format.toUpperCase()}
            </a>
          ))}
        </span>
      }
    >
      <Loading share={share} player={player} search={search} />
    </Section>
  );
}

function Loading({ share, player, search }: TranscriptPartProps) {
  const query = useQuery(transcriptQuery(share.id));
  return (
    <Loaded query={query} what="The transcript" loading={<Skeleton height={320} />}>
      {({ segments }) => <Transcript segments={segments} player={player} search={search} />}
    </Loaded>
  );
}

function missingWords(share: Share): string | undefined {
  switch (share.transcriptStatus) {
    case "pending":
      return share.status === "PENDING" || share.status === "PROCESSING"
        ? "It is written when the file is there."
        : undefined;
    case "processing":
      return "It is being written.";
    case "failed":
      return `It could not be written. ${sentence(share.transcriptError ?? "")}`;
    case "skipped":
      return share.transcriptError ? sentence(share.transcriptError) : "There is nothing to hear.";
    default:
      return "Nothing is said in it.";
  }
}
