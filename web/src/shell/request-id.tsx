import { ProblemError } from "~/api/problem";
import css from "./failed.module.css";

/** The id under which the server has logged it, for the one who asks the operator. */
export function RequestId({ error }: { error: unknown }) {
  if (!(error instanceof ProblemError) || !error.requestId) return null;
  return (
    <span className={css.request}>
      Request <code>{error.requestId}</code>
    </span>
  );
}
