import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useApp, usePipeline } from "~/api/app";
import type { Attempt, Item } from "~/api/items";
import { attemptsQuery, ofJob } from "~/api/record";
import { took } from "~/format";
import { Button } from "~/ui/button";
import { Pill } from "~/ui/pill";
import { Time } from "~/ui/time";
import { sentence, statusWord } from "~/words";
import { attemptWords, CLASSES, nextWords } from "./attempt-words";
import css from "./items.module.css";

/** Every attempt of an item, the newest last, so that a new one moves nothing: how it ended, why, how long it took and where, and what came next. */
export function Attempts({ item, Heading }: { item: Item; Heading: "h2" | "h3" }) {
  const [showsOlder, setShowsOlder] = useState(false);
  const where = ofJob({ id: item.jobId, owner: item.owner }, useApp().me);
  const query = useInfiniteQuery({
    ...attemptsQuery({ ...where, itemId: item.id, pageSize: 200 }),
    enabled: showsOlder,
  });
  if (item.attempts.length === 0) return null;
  const shown = new Set(item.attempts.map(keyOf));
  const older = (query.data?.pages ?? []).flatMap((page) => page.attempts).filter((each) => !shown.has(keyOf(each)));
  return (
    <div className={css.section}>
      <Heading>Attempts</Heading>
      {(showsOlder ? query.hasNextPage || query.isFetching : item.attemptsCut) && (
        <div className="row">
          <Button
            busy={query.isFetching}
            onClick={() => (showsOlder ? void query.fetchNextPage() : setShowsOlder(true))}
          >
            Show older attempts
          </Button>
        </div>
      )}
      <AttemptList item={item} attempts={[...item.attempts, ...older].reverse()} />
    </div>
  );
}

function keyOf({ step, attempt, startedAt }: Attempt): string {
  return `${step} ${attempt} ${startedAt}`;
}

function AttemptList({ item, attempts }: { item: Item; attempts: Attempt[] }) {
  const { info } = usePipeline(item.pipeline);
  return (
    <ol aria-label="Attempts" className={css.attempts}>
      {attempts.map((attempt, index) => {
        const later = attempts.slice(index + 1).find(({ step }) => step === attempt.step);
        const most = info?.steps.find(({ name }) => name === attempt.step)?.retry.attempts;
        const nextAt = later ? null : item.steps.find(({ name }) => name === attempt.step)?.nextAt;
        return (
          <li key={keyOf(attempt)} className={css.attempt}>
            <div className={css.attemptHead}>
              <Pill status={attempt.outcome} />
              <span>
                <strong>{attempt.step}</strong>, {attemptWords(attempt.attempt, most)}
              </span>
              <span className="muted">
                {took(attempt.startedAt, attempt.endedAt)} on {attempt.worker}, <Time value={attempt.endedAt} />
              </span>
            </div>
            <Because attempt={attempt} />
            <p className="muted">
              {nextWords(item, attempt, later)} {nextAt && <Time value={nextAt} />}
            </p>
          </li>
        );
      })}
    </ol>
  );
}

/** The class of the error in words, and what the step said. */
function Because({ attempt: { errorClass, reason } }: { attempt: Attempt }) {
  if (!errorClass && !reason) return null;
  const known = errorClass ? CLASSES[errorClass.toLowerCase()] : undefined;
  return (
    <p className={css.because}>
      {errorClass && <strong title={known?.meaning}>{known?.word ?? statusWord(errorClass)}: </strong>}
      {reason ? sentence(reason) : known?.meaning}
      {reason && known && <span className="muted"> {known.meaning}</span>}
    </p>
  );
}
