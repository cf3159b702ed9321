import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { api, queryClient, take } from "~/api/client";
import { whyQuery } from "~/api/why";
import { useCommands } from "~/shell/commands";
import { Failed } from "~/shell/failed";
import { Button } from "~/ui/button";
import { SignalDialog } from "./signal-dialog";
import css from "./why.module.css";
import { ACTIONS, type Action, hint, type Reason, say, type Why as WhyAnswer } from "./words";

const WATCHED_MS = 60_000; // no event says that a task was claimed, or that a place in line has changed
const SOONEST_MS = 1000;
const SOON_MS = 3000;
const RUNNING_MS = 20_000; // leases of running tasks are renewed all the time; a lost worker is seen when one is not

/** When to ask again: when the first of the reasons ends; soon, if nothing holds it back. */
function nextLook(why: WhyAnswer | undefined): number {
  const ends = (why?.reasons ?? [])
    .filter(({ code, until }) => until !== null || code === "unknown")
    .map(({ code, until }) => {
      if (until === null) return SOON_MS;
      const left = Date.parse(until) - Date.parse(why!.at) + SOONEST_MS;
      return Math.max(code === "running" ? RUNNING_MS : SOONEST_MS, left);
    });
  return Math.min(WATCHED_MS, ...ends);
}

interface WhyProps {
  jobId: string;
  itemId?: string | undefined;
}

/** Why a job or an item waits: the first reason that holds, then the others; each with the button that helps. */
export function Why({ jobId, itemId }: WhyProps) {
  const query = useQuery({ ...whyQuery(jobId, itemId), refetchInterval: ({ state }) => nextLook(state.data) });
  const why = query.data;
  const [first, ...rest] = why?.reasons ?? [];
  const hasWaited = useRef(false);
  if (first) hasWaited.current = true;
  const section = useRef<HTMLElement>(null);
  useCommands(
    first ? [{ id: "why", title: "Why it waits", group: "Do", keys: "w", run: () => tellAll(section.current) }] : [],
  );
  if (!why || !first) {
    // What has waited leaves its line: the page does not move when the work ends.
    return hasWaited.current ? (
      <section className={css.why} aria-label="Why it waits">
        <p className={css.first}>Nothing waits any more.</p>
      </section>
    ) : null;
  }
  return (
    <section ref={section} tabIndex={-1} className={css.why} aria-label="Why it waits">
      <ReasonLine reason={first} at={why.at} jobId={jobId} itemId={itemId} isFirst />
      {rest.length > 0 && (
        <details>
          <summary>Also</summary>
          <ul className={css.rest}>
            {rest.map((reason, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: reasons have no name of their own
              <li key={`${reason.code} ${reason.step} ${index}`}>
                <ReasonLine reason={reason} at={why.at} jobId={jobId} itemId={itemId} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** All reasons are shown, and the focus is on them. */
function tellAll(section: HTMLElement | null): void {
  section?.querySelector("details")?.setAttribute("open", "");
  section?.focus();
}

interface LineProps extends WhyProps {
  reason: Reason;
  at: string;
  isFirst?: boolean;
}

function ReasonLine({ reason, at, jobId, itemId, isFirst }: LineProps) {
  const command = hint(reason);
  const [asksSignal, setAsksSignal] = useState(false);
  const act = useMutation({
    mutationFn: (action: Sent) => perform(action, reason, jobId, itemId),
    onSuccess: () => void queryClient.invalidateQueries(),
  });
  return (
    <div className={css.line}>
      <p className={isFirst ? css.first : undefined}>
        {say(reason, at)}
        {itemId === undefined && reason.facts.item && (
          <>
            {" "}
            <Link to="/jobs/$jobId/items/$n" params={{ jobId, n: reason.facts.item }}>
              {reason.facts.tasks === 1 ? "" : "For example "}item {reason.facts.item}
            </Link>
          </>
        )}
      </p>
      {command && <code>{command}</code>}
      <span className={css.actions}>
        {reason.actions.map((action) => (
          <Button
            key={action}
            busy={act.isPending && act.variables === action}
            look={action.startsWith("cancel") ? "plain" : "normal"}
            onClick={() => (action === "send_signal" ? setAsksSignal(true) : act.mutate(action))}
          >
            {ACTIONS[action]}
          </Button>
        ))}
      </span>
      <Failed of={act} what={act.variables ? `${ACTIONS[act.variables]}: it was not done.` : ""} />
      {asksSignal && <SignalDialog facts={reason.facts} onClose={() => setAsksSignal(false)} />}
    </div>
  );
}

type Sent = Exclude<Action, "send_signal">;

async function perform(action: Sent, reason: Reason, jobId: string, itemId: string | undefined): Promise<unknown> {
  const job = { params: { path: { job_id: jobId } } };
  const item = { params: { path: { job_id: jobId, item_id: itemId ?? reason.facts.item ?? "" } } };
  switch (action) {
    case "resume_job":
      return take(api.POST("/api/jobs/{job_id}/resume", job));
    case "cancel_job":
      return take(api.POST("/api/jobs/{job_id}/cancel", job));
    case "kickoff":
      return take(api.POST("/api/jobs/{job_id}/kickoff", job));
    case "start_item":
      return take(api.POST("/api/jobs/{job_id}/items/{item_id}/start", item));
    case "resume_item":
      return take(api.POST("/api/jobs/{job_id}/items/{item_id}/resume", item));
    case "cancel_item":
      return take(api.POST("/api/jobs/{job_id}/items/{item_id}/cancel", item));
    case "resume_queue":
      return take(api.POST("/api/queues/{name}/resume", { params: { path: { name: reason.facts.queue ?? "" } } }));
  }
}
