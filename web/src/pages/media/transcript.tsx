import { type RefObject, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useCommands } from "~/shell/commands";
import { Button } from "~/ui/button";
import { Field } from "~/ui/field";
import { plural } from "~/words";
import { Found } from "./found";
import { lineAt, matching } from "./lines";
import css from "./media.module.css";
import type { PlayerHandle } from "./player";
import { playTime } from "./share-words";

interface TranscriptProps {
  segments: { start: number; text: string }[];
  player: RefObject<PlayerHandle | null>;
  search: string | undefined;
}

/** What is said, a line each. It follows the player, until one scrolls; a line that is pressed is played. */
export function Transcript({ segments, player, search }: TranscriptProps) {
  const [typed, setTyped] = useState(search ?? "");
  const words = useDeferredValue(typed.trim());
  const shown = useMemo(() => matching(segments, words), [segments, words]);
  const [now, setNow] = useState(-1);
  const [follows, setFollows] = useState(true);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => player.current?.onTime((second) => setNow(lineAt(segments, second))), [player, segments]);
  useEffect(() => {
    if (!follows || now < 0) return;
    const line = list.current?.querySelector<HTMLElement>(`[data-line="${now}"]`);
    if (line) list.current!.scrollTop = line.offsetTop - list.current!.clientHeight / 3;
  }, [now, follows]);
  const play = (line: number) => {
    setFollows(true);
    setNow(line);
    player.current?.seek(segments[line]!.start);
  };
  const move = (by: number) => play(Math.max(0, Math.min(segments.length - 1, now + by)));
  useCommands([
    { id: "line-next", title: "Next line", group: "Transcript", keys: "j", run: () => move(1), hidden: true },
    { id: "line-before", title: "Line before", group: "Transcript", keys: "k", run: () => move(-1), hidden: true },
  ]);
  // What a person does to scroll; the page itself scrolls without these events.
  useEffect(() => {
    const element = list.current!;
    const stop = () => setFollows(false);
    for (const event of ["wheel", "touchmove"]) element.addEventListener(event, stop, { passive: true });
    return () => {
      for (const event of ["wheel", "touchmove"]) element.removeEventListener(event, stop);
    };
  }, []);
  return (
    <div className={css.transcript}>
      <Field
        label="Search what is said"
        hideLabel
        type="search"
        placeholder="Search what is said"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <div className="row" role="status">
        {words && <span className="muted">{plural(shown.length, "line")}</span>}
        {!follows && now >= 0 && (
          <Button look="plain" onClick={() => setFollows(true)}>
            Back to now
          </Button>
        )}
      </div>
      <div ref={list} className={css.lines} role="group" aria-label="Lines">
        {shown.map((line) => {
          const { start, text } = segments[line]!;
          return (
            <button
              key={line}
              type="button"
              data-line={line}
              className={css.said}
              aria-current={line === now || undefined}
              onClick={() => play(line)}
            >
              <time dateTime={`PT${Math.floor(start)}S`}>{playTime(start)}</time>
              <span>
                <Found text={text} words={words} />
              </span>
            </button>
          );
        })}
      </div>
    </div>
  );
}
