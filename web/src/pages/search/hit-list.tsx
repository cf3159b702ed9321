import { Link } from "@tanstack/react-router";
import type { Hit } from "~/api/search";
import { host } from "~/format";
import { HitLink } from "~/hits/hit-link";
import { Parts } from "~/hits/parts";
import { kindWord, secondWord } from "~/hits/place";
import type { RowProps } from "~/shell/list-keys";
import { List } from "~/ui/list";
import { Time } from "~/ui/time";
import css from "./search.module.css";

interface HitListProps {
  hits: Hit[];
  rowProps?: (index: number) => RowProps;
}

export function HitList({ hits, rowProps }: HitListProps) {
  return (
    <List label="Found">
      {hits.map((hit, index) => (
        <li key={`${hit.kind} ${hit.ref}`} className={css.hit} {...rowProps?.(index)}>
          <OneHit hit={hit} />
        </li>
      ))}
    </List>
  );
}

function OneHit({ hit }: { hit: Hit }) {
  return (
    <>
      <HitLink hit={hit} className={css.title}>
        <span data-hit>{hit.title.length > 0 ? <Parts parts={hit.title} /> : hit.ref}</span>
      </HitLink>
      {hit.snippet.length > 0 && (
        <p className={css.snippet} lang={hit.language ?? undefined}>
          <Parts parts={hit.snippet} />
        </p>
      )}
      <p className={css.side}>
        <span className={css.kind}>{kindWord(hit.kind)}</span>
        {hit.second !== null && <span>at {secondWord(hit.second)}</span>}
        {hit.url && !hit.url.startsWith("/") && <span>{host(hit.url)}</span>}
        <Time value={hit.writtenAt} />
        {hit.tags.slice(0, 5).map((tag) => (
          <span key={tag} className={css.tag}>
            {tag}
          </span>
        ))}
        <span title="How it was found">{howFound(hit)}</span>
        {hit.isStale && (
          <span className={css.stale} title="The search by meaning knows an earlier text of it">
            older than its text
          </span>
        )}
        <Link
          to="/search"
          search={{ like: `${hit.kind}:${hit.ref}` }}
          aria-label={`More like this: ${hit.title.map(({ text }) => text).join("") || hit.ref}`}
        >
          More like this
        </Link>
      </p>
    </>
  );
}

/** By which of the two lists it was found. */
export function howFound({ byWords, byMeaning }: Pick<Hit, "byWords" | "byMeaning">): string {
  if (byWords !== null && byMeaning !== null) return "words and meaning";
  return byWords === null ? "meaning" : "words";
}
