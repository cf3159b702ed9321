import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type BookmarkStep, crawl, type WholeBookmark } from "~/api/bookmarks";
import { STEP_WORDS, stepNames, stepsOf } from "~/bookmarks/marks";
import { Failed } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { List } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { Time } from "~/ui/time";
import { Why } from "~/why/why";
import { sentence } from "~/words";
import css from "./bookmarks.module.css";

const ENDED: BookmarkStep["state"][] = ["DONE", "SKIPPED", "NOT_FOUND", "FAILED"];

/** How far the reading of the page is; each step can be repeated by itself. */
export function Steps({ bookmark, isOpen }: { bookmark: WholeBookmark; isOpen: boolean }) {
  const steps = stepsOf(bookmark);
  const again = useMutation({
    mutationFn: (step: BookmarkStep) => crawl(bookmark.id, [step.name]),
    onSuccess: (_, step) => toast(`${STEP_WORDS[step.name]}: it runs again, with what it needs.`),
  });
  return (
    <div className="stack">
      {steps.length === 0 ? (
        <Empty title="It has not been read yet" />
      ) : (
        <List label="Steps">
          {steps.map((step) => (
            <li key={step.name} className={css.step}>
              <span className={css.stepName}>
                <strong>{STEP_WORDS[step.name]}</strong>
                <span className="muted">
                  <StepTime step={step} />
                  {step.reason && ` ${sentence(step.reason)}`}
                </span>
              </span>
              <Pill status={step.state} />
              <Button
                aria-label={`Again: ${STEP_WORDS[step.name]}`}
                disabled={!ENDED.includes(step.state)}
                busy={again.isPending && again.variables.name === step.name}
                onClick={() => again.mutate(step)}
              >
                Again
              </Button>
            </li>
          ))}
        </List>
      )}
      <Failed of={again} what="The step was not started." />
      {bookmark.jobId && (
        <p>
          <Link to="/jobs/$jobId/items/$n" params={{ jobId: bookmark.jobId, n: "1" }}>
            All attempts, in job {bookmark.jobId}
          </Link>
        </p>
      )}
      {isOpen && bookmark.jobId && <Why jobId={bookmark.jobId} itemId="1" />}
    </div>
  );
}

function StepTime({ step }: { step: BookmarkStep }) {
  if (step.nextAt && !ENDED.includes(step.state)) {
    return (
      <>
        Tried again <Time value={step.nextAt} />.
      </>
    );
  }
  if (step.startedAt && step.state === "RUNNING") {
    return (
      <>
        Since <Time value={step.startedAt} />.
      </>
    );
  }
  if (step.endedAt) {
    return (
      <>
        <Time value={step.endedAt} />.
      </>
    );
  }
  return step.after.length > 0 ? <>After {stepNames(step.after)}.</> : null;
}
