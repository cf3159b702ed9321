import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { usePipeline } from "~/api/app";
import { isUnsent, LETTERS, type Letters, type Queue, retry, type WaitingSheet } from "~/api/home";
import { bytes } from "~/format";
import { Failed } from "~/shell/failed";
import { useHeld } from "~/shell/held";
import { useActivities } from "~/shell/tray";
import { Button, buttonClass } from "~/ui/button";
import { Notice } from "~/ui/notice";
import { Section } from "~/ui/section";
import { plural, runsAgain, sentence } from "~/words";
import { type Trouble, troubles } from "./group";
import css from "./home.module.css";

const SHOWN = 4;
const NOT_STARTED = "Not all of them were started.";

interface NeedsYouProps {
  page: Letters | undefined;
  parked: Queue[];
  sheets: WaitingSheet[];
}

/** What only a person can decide; nothing if there is nothing. */
export function NeedsYou({ page, parked, sheets }: NeedsYouProps) {
  const [retried, setRetried] = useState<ReadonlyMap<string, Trouble>>(new Map());
  const found = useInPlace(troubles(page?.deadLetters ?? []), retried);
  const sending = new Set(useActivities().flatMap(({ id, isOver }) => (isOver ? [] : id)));
  const waiting = sheets.filter((sheet) => !sending.has(`upload-${sheet.id}`)).slice(0, SHOWN);
  if (found.length === 0 && parked.length === 0 && waiting.length === 0) return null;
  const more = found.length - SHOWN;
  const isCut = Boolean(page?.next);
  return (
    <Section
      title="Needs you"
      beside={
        (more > 0 || isCut) && (
          <Link to="/dead-letters">{isCut ? `More than ${plural(LETTERS, "failure")}` : `${more} more`}</Link>
        )
      }
    >
      <div className={css.needs}>
        {parked.map((queue) => (
          <Notice key={queue.queue} kind="warn" title={`${queue.pipeline}: ${queue.step} needs set-up`}>
            {sentence(queue.parked ?? "")} {plural(queue.pending + queue.onHold, "task waits", "tasks wait")}.
          </Notice>
        ))}
        {waiting.map((sheet) => (
          <Waiting key={sheet.id} sheet={sheet} />
        ))}
        {found.slice(0, SHOWN).map((trouble) => (
          <FailedItems
            key={trouble.key}
            trouble={trouble}
            isCut={isCut}
            onRetried={() => setRetried((all) => new Map(all).set(trouble.key, trouble))}
          />
        ))}
      </div>
    </Section>
  );
}

/** What was retried here stays where it was, until the page is left: nothing moves under the pointer. */
function useInPlace(found: Trouble[], retried: ReadonlyMap<string, Trouble>): Trouble[] {
  const seen = useRef<string[]>([]);
  const all = new Map([...retried, ...found.map((trouble) => [trouble.key, trouble] as const)]);
  seen.current = [
    ...seen.current.filter((key) => all.has(key)),
    ...[...all.keys()].filter((key) => !seen.current.includes(key)),
  ];
  return seen.current.map((key) => all.get(key)!);
}

function Waiting({ sheet }: { sheet: WaitingSheet }) {
  const [title, words, button] = isUnsent(sheet)
    ? [
        `The upload of ${sheet.name} is not complete`,
        `${bytes(sheet.received)} of ${bytes(sheet.size ?? 0)} have come, and are kept. Choose the file again to go on.`,
        "Go on",
      ]
    : [
        `${sheet.name} waits for you`,
        `${plural(sheet.counters?.total ?? 0, "row is", "rows are")} read. Say what their columns are, and start.`,
        "Map and start",
      ];
  return (
    <Notice
      kind="warn"
      title={title}
      actions={
        <Link to="/sheets/new" search={{ job: sheet.jobId }} className={buttonClass()}>
          {button}
        </Link>
      }
    >
      {words}
    </Notice>
  );
}

interface FailedItemsProps {
  trouble: Trouble;
  isCut: boolean;
  onRetried: () => void;
}

function FailedItems({ trouble, isCut, onRetried }: FailedItemsProps) {
  const { noun, title } = usePipeline(trouble.pipeline);
  const items = new Set(trouble.letters.map((letter) => `${letter.jobId} ${letter.itemId}`)).size;
  const again = useHeld({
    words: () => runsAgain(items, noun),
    what: NOT_STARTED,
    send: () => retry(trouble.letters).then(onRetried),
  });
  return (
    <Notice
      kind="error"
      title={`${isCut ? "At least " : ""}${plural(items, noun)} failed in ${trouble.step}`}
      actions={
        <>
          <Button busy={again.isPending} disabled={again.data === true} onClick={() => again.mutate()}>
            {again.data ? "Retried" : `Retry ${items}`}
          </Button>
          <Link to="/dead-letters" search={{ pipeline: trouble.pipeline }} className={buttonClass("plain")}>
            Show
          </Link>
          <Failed of={again} what={NOT_STARTED} />
        </>
      }
    >
      {title}: {sentence(trouble.reason)}
    </Notice>
  );
}
