import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Search } from "lucide-react";
import type { KeyboardEvent } from "react";
import { answersQuery } from "~/api/search";
import { HitLink } from "~/hits/hit-link";
import { Parts } from "~/hits/parts";
import { kindWord, secondWord } from "~/hits/place";
import css from "./answers.module.css";
import { useTyped } from "./use-typed";

const LONGEST = 400;

interface AnswersProps {
  text: string;
  /** Below the large box, whose hint takes a place of its own. */
  large: boolean | undefined;
  onOpen: () => void;
}

/** What the search finds while somebody types into the box. Arrows move, Enter opens. */
export function Answers({ text, large, onOpen }: AnswersProps) {
  const q = useTyped(text.slice(0, LONGEST));
  const { data, isPlaceholderData } = useQuery(answersQuery(q));
  if (!data || !q) return null;
  return (
    <div
      className={css.answers}
      data-answers
      role="group"
      aria-label="Answers"
      data-large={large}
      onKeyDown={move}
      aria-busy={isPlaceholderData || undefined}
    >
      {data.hits.length > 0 ? (
        <ul aria-label="Found">
          {data.hits.map((hit) => (
            <li key={`${hit.kind} ${hit.ref}`}>
              <HitLink hit={hit} className={css.answer} onOpen={onOpen}>
                <span className={css.title}>
                  <Parts parts={hit.title} />
                </span>
                <span className={css.kind}>
                  {kindWord(hit.kind)}
                  {hit.second !== null && ` at ${secondWord(hit.second)}`}
                </span>
                <span className={css.snippet}>
                  <Parts parts={hit.snippet} />
                </span>
              </HitLink>
            </li>
          ))}
        </ul>
      ) : (
        <p className={css.none}>Nothing is found for it.</p>
      )}
      <Link to="/search" search={{ q: text }} className={css.all} onClick={onOpen}>
        <Search aria-hidden="true" /> All that is found
        <kbd aria-hidden="true">Enter</kbd>
      </Link>
    </div>
  );
}

/** From one answer to the next, and from the first back to the field. */
function move(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const field = event.currentTarget.closest("form")?.querySelector("textarea");
  if (event.key === "Escape") field?.focus();
  if (!step) return;
  event.preventDefault();
  const links = [...event.currentTarget.querySelectorAll("a")];
  const next = links[links.indexOf(document.activeElement as HTMLAnchorElement) + step];
  if (next) next.focus();
  else if (step < 0) field?.focus();
}
