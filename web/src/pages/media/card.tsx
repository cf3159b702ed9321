import { Link } from "@tanstack/react-router";
import type { Share } from "~/api/media";
import { bytes } from "~/format";
import { Pill } from "~/ui/pill";
import { Time } from "~/ui/time";
import { plural } from "~/words";
import css from "./media.module.css";
import { Poster } from "./poster";
import { Progress } from "./progress";
import { fileStatus, sourceOf, titleOf } from "./share-words";

/** A share as a card; its title is the link. */
export function ShareCard({ share }: { share: Share }) {
  return (
    <article className={css.card}>
      <Poster share={share} />
      <span className={css.text}>
        <Link to="/media/$id" params={{ id: share.id }} className={css.title} title={titleOf(share)}>
          {titleOf(share)}
        </Link>
        <span className="cut muted">{sourceOf(share) || "\u00a0"}</span>
      </span>
      {share.progress ? <Progress progress={share.progress} /> : <Foot share={share} />}
    </article>
  );
}

function Foot({ share }: { share: Share }) {
  const { status, word } = fileStatus(share);
  return (
    <span className={css.foot}>
      {share.fileState === "ready" ? (
        <span className={css.side}>{share.file && bytes(share.file.size)}</span>
      ) : share.kind === "playlist" ? (
        <span className={css.side}>{entryWords(share)}</span>
      ) : (
        <Pill status={status}>{word}</Pill>
      )}
      <span className={css.side}>
        <Time value={share.createdAt} />
      </span>
    </span>
  );
}

/** How many entries of a playlist are there. */
export function entryWords({ entries, readyEntries }: Pick<Share, "entries" | "readyEntries">): string {
  if (!entries) return "Looking for entries";
  return readyEntries === entries
    ? plural(entries, "entry", "entries")
    : `${readyEntries ?? 0} of ${plural(entries, "entry", "entries")}`;
}
