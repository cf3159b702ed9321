import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { usePipeline } from "~/api/app";
import { LETTERS, type Letters, type Queue, retry } from "~/api/home";
import { toast } from "~/shell/toasts";
import { Button, buttonClass } from "~/ui/button";
import { Notice } from "~/ui/notice";
import { plural, sentence } from "~/words";
import { type Trouble, troubles } from "./group";
import css from "./home.module.css";

const SHOWN = 4;

/** What only a person can decide; nothing if there is nothing. */
export function NeedsYou({ page, parked }: { page: Letters | undefined; parked: Queue[] }) {
  const found = troubles(page?.deadLetters ?? []);
  if (found.length === 0 && parked.length === 0) return null;
  const more = found.length - SHOWN;
  const isCut = Boolean(page?.next);
  return (
    <section className={css.section} aria-labelledby="needs">
      <div className={css.head}>
        <h2 id="needs">Needs you</h2>
        {(more > 0 || isCut) && (
          <Link to="/dead-letters">{isCut ? `More than ${plural(LETTERS, "failure")}` : `${more} more`}</Link>
        )}
      </div>
      <div className={css.needs}>
        {parked.map((queue) => (
          <Notice key={queue.queue} kind="warn" title={`${queue.pipeline}: ${queue.step} needs set-up`}>
            {sentence(queue.parked ?? "")} {plural(queue.pending + queue.onHold, "task")} wait.
          </Notice>
        ))}
        {found.slice(0, SHOWN).map((trouble) => (
          <Failed key={trouble.key} trouble={trouble} isCut={isCut} />
        ))}
      </div>
    </section>
  );
}

function Failed({ trouble, isCut }: { trouble: Trouble; isCut: boolean }) {
  const { noun, title } = usePipeline(trouble.pipeline);
  const items = new Set(trouble.letters.map((letter) => `${letter.jobId} ${letter.itemId}`)).size;
  const again = useMutation({
    mutationFn: () => retry(trouble.letters),
    onSuccess: (count) => toast(`${plural(count, noun)} run${count === 1 ? "s" : ""} again.`),
    onError: (error) => toast(`Not started: ${error.message}`),
  });
  return (
    <Notice
      kind="error"
      title={`${isCut ? "At least " : ""}${plural(items, noun)} failed in ${trouble.step}`}
      actions={
        <>
          <Button busy={again.isPending} onClick={() => again.mutate()}>
            Retry {items}
          </Button>
          <Link to="/dead-letters" search={{ pipeline: trouble.pipeline }} className={buttonClass("plain")}>
            Show
          </Link>
        </>
      }
    >
      {title}: {sentence(trouble.reason)}
    </Notice>
  );
}
