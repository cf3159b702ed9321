import { useMutation, useQuery } from "@tanstack/react-query";
import { api, queryClient, take } from "~/api/client";
import { whyQuery } from "~/api/why";
import { toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import css from "./why.module.css";
import { ACTIONS, type Action, hint, type Reason, say } from "./words";

const WATCHED_MS = 5000; // no event says that a place in line has changed

interface WhyProps {
  jobId: string;
  itemId?: string | undefined;
}

/** Why a job or an item waits: the first reason that holds, then the others; each with the button that helps. */
export function Why({ jobId, itemId }: WhyProps) {
  const query = useQuery({ ...whyQuery(jobId, itemId), refetchInterval: WATCHED_MS });
  const why = query.data;
  if (!why || why.reasons.length === 0) return null;
  const [first, ...rest] = why.reasons;
  return (
    <section className={css.why} aria-label="Why it waits">
      <ReasonLine reason={first!} at={why.at} jobId={jobId} itemId={itemId} isFirst />
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

interface LineProps extends WhyProps {
  reason: Reason;
  at: string;
  isFirst?: boolean;
}

function ReasonLine({ reason, at, jobId, itemId, isFirst }: LineProps) {
  const command = hint(reason);
  const act = useMutation({
    mutationFn: (action: Action) => perform(action, reason, jobId, itemId),
    onSuccess: () => void queryClient.invalidateQueries(),
    onError: (error) => toast(error.message),
  });
  return (
    <div className={css.line}>
      <p className={isFirst ? css.first : undefined}>{say(reason, at)}</p>
      {command && <code>{command}</code>}
      {reason.actions
        .filter((action) => action !== "send_signal")
        .map((action) => (
          <Button
            key={action}
            busy={act.isPending && act.variables === action}
            look={action.startsWith("cancel") ? "plain" : "normal"}
            onClick={() => act.mutate(action)}
          >
            {ACTIONS[action]}
          </Button>
        ))}
    </div>
  );
}

async function perform(action: Action, reason: Reason, jobId: string, itemId: string | undefined): Promise<unknown> {
  const job = { params: { path: { job_id: jobId } } };
  const item = { params: { path: { job_id: jobId, item_id: itemId ?? reason.facts.item ?? "" } } };
  switch (action) {
    case "resume_job":
      return take(api.POST("/api/jobs/{job_id}/resume", job));
    case "cancel_job":
      return take(api.POST("/api/jobs/{job_id}/cancel", job));
    case "kickoff":
      return take(api.POST("/api/jobs/{job_id}/kickoff", job));
    case "resume_item":
      return take(api.POST("/api/jobs/{job_id}/items/{item_id}/resume", item));
    case "cancel_item":
      return take(api.POST("/api/jobs/{job_id}/items/{item_id}/cancel", item));
    case "resume_queue":
      return take(api.POST("/api/queues/{name}/resume", { params: { path: { name: reason.facts.queue ?? "" } } }));
    case "send_signal":
      return undefined; // needs a payload: `forebay signal`
  }
}
