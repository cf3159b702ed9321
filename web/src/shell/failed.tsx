import { ProblemError } from "~/api/problem";
import { Button } from "~/ui/button";
import { Notice } from "~/ui/notice";
import { sentence } from "~/words";
import css from "./failed.module.css";
import { RequestId } from "./request-id";
import { Retry } from "./trouble";

/** An action that failed: what `useMutation` returns has all of it. */
interface Action<V> {
  error: Error | null;
  variables: V | undefined;
  mutate: (variables: V) => void;
  reset: () => void;
}

/** What a person can do about a failed action, where the server does not say so itself. */
export function remedy(error: unknown): string {
  if (!(error instanceof ProblemError)) return "Reload the page, and try again.";
  const { status } = error;
  if (error.isGone) return "It may have been deleted, here or in another window. Nothing was changed.";
  if (status === 409) return "It has changed meanwhile: look at how it is now.";
  if (status === 403) return "An administrator may be allowed to do it.";
  if (status === 413 || status === 422) return "Nothing was changed. Correct it, and try again.";
  if (status === 0 || status === 429 || status === 502 || status === 503 || status === 504)
    return "Nothing is lost: try again.";
  if (status >= 500) return "It was logged. If it happens again, give the number of the request to the operator.";
  return "";
}

/** The error of an action, at the place of the action: what failed, what to do, and the number of the request. */
export function Failed<V>({ of: action, what }: { of: Action<V>; what: string }) {
  if (!action.error) return null;
  return (
    <Failure
      error={action.error}
      what={what}
      onRetry={() => action.mutate(action.variables as V)}
      onClose={action.reset}
    />
  );
}

interface FailureProps {
  error: unknown;
  what: string;
  onRetry?: () => void;
  onClose: () => void;
}

export function Failure({ error, what, onRetry, onClose }: FailureProps) {
  const problem = error instanceof ProblemError ? error : undefined;
  const isOver = problem?.isGone || problem?.status === 403;
  return (
    <div className={css.failed} data-failed>
      <Notice
        kind="error"
        title={what}
        actions={
          <>
            {onRetry && !isOver && <Retry after={problem?.retryAfter} onRetry={onRetry} isAutomatic={false} />}
            <Button look="plain" onClick={onClose}>
              Close
            </Button>
          </>
        }
      >
        {sentence(error instanceof Error ? error.message : String(error))} {remedy(error)}
        <RequestId error={error} />
      </Notice>
    </div>
  );
}

/** The same in a dialog, whose own button repeats the action. */
export function Said({ error }: { error: Error | null }) {
  if (!error) return null;
  return (
    <div role="alert">
      {sentence(error.message)} <RequestId error={error} />
    </div>
  );
}
