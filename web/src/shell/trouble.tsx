import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { ProblemError } from "~/api/problem";
import { clock } from "~/format";
import { Button, buttonClass } from "~/ui/button";
import { Empty, Notice } from "~/ui/notice";
import { plural, sentence } from "~/words";
import { RequestId } from "./request-id";

/** An error in words: what failed, and what to do. */
export function Trouble({ error, what, onRetry }: { error: unknown; what: string; onRetry?: () => void }) {
  const problem = error instanceof ProblemError ? error : undefined;
  if (problem?.isGone) {
    return (
      <Empty
        title="It is not here"
        actions={
          <a className={buttonClass()} href={location.pathname.replace(/(?<=\w)\/.*/, "")}>
            Show the others
          </a>
        }
      >
        There is nothing at this address, or it is not yours. It may have been deleted.
      </Empty>
    );
  }
  return (
    <Notice
      kind="error"
      title={`${what} could not be loaded.`}
      actions={onRetry && <Retry after={problem?.retryAfter} onRetry={onRetry} />}
    >
      {sentence(problem?.detail ?? String(error))}
      <RequestId error={error} />
    </Notice>
  );
}

interface RetryProps {
  after: number | undefined;
  onRetry: () => void;
  /** Whether it is repeated by itself, as reads are. */
  isAutomatic?: boolean;
}

export function Retry({ after, onRetry, isAutomatic = true }: RetryProps) {
  const [left, setLeft] = useState(Math.ceil(after ?? 0));
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => setLeft(left - 1), 1000);
    return () => clearTimeout(timer);
  }, [left]);
  return (
    <Button onClick={onRetry} disabled={left > 0 && !isAutomatic}>
      Try again{left > 0 && ` (in ${plural(left, "second")}${isAutomatic ? " by itself" : ""})`}
    </Button>
  );
}

interface LoadedProps<T> {
  query: UseQueryResult<T>;
  /** What is loaded, as the begin of a sentence: "The jobs". */
  what: string;
  loading: ReactNode;
  children: (data: T) => ReactNode;
}

/** The states of a query: first load, error, old data with their time, and data. */
export function Loaded<T>({ query, what, loading, children }: LoadedProps<T>) {
  if (query.data !== undefined) {
    return (
      <>
        {query.isError && !query.isFetching && (
          <p className="muted" role="status">
            As of {clock(new Date(query.dataUpdatedAt))}: newer data could not be loaded.
          </p>
        )}
        {children(query.data)}
      </>
    );
  }
  if (query.isError) return <Trouble error={query.error} what={what} onRetry={() => void query.refetch()} />;
  return loading;
}
