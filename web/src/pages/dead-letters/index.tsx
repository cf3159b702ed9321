import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type DeadLetter, lettersQuery, lettersSummaryQuery } from "~/api/dead-letters";
import { attemptsQuery } from "~/api/record";
import { exact } from "~/format";
import { useTopics } from "~/live";
import { Page } from "~/shell/page";
import { useStore } from "~/shell/store";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { type Column, Table } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { Groups } from "./groups";
import { retries, withRetried } from "./retries";

const route = getRouteApi("/dead-letters");

export default function DeadLettersPage() {
  const { pipeline, class: errorClass, step, reason } = route.useSearch();
  const navigate = useNavigate({ from: "/dead-letters" });
  useTopics("jobs");
  const isOne = Boolean(step || reason || errorClass);
  const retried = useStore(retries);
  const summary = useQuery(lettersSummaryQuery({ ...(pipeline && { pipeline }) }));
  return (
    <Page title="Dead letters" subtitle="What has failed for good, by reason.">
      {(pipeline || isOne) && (
        <div className="row">
          <span className="muted">{[pipeline, step, errorClass, reason].filter(Boolean).join(", ")}</span>
          <Button look="plain" onClick={() => void navigate({ search: {} })}>
            Show all
          </Button>
        </div>
      )}
      {isOne ? (
        <Letters
          filter={{ ...(pipeline && { pipeline }), ...(errorClass && { errorClass }) }}
          step={step}
          reason={reason}
        />
      ) : (
        <Loaded query={summary} what="The dead letters" loading={<SkeletonRows rows={4} height={88} />}>
          {({ groups, complete, searched }) =>
            groups.length === 0 && retried.size === 0 ? (
              <Nothing />
            ) : (
              <>
                <Groups groups={withRetried(groups, retried)} retried={retried} />
                {!complete && <p className="muted">The newest {exact(searched)} were looked at.</p>}
              </>
            )
          }
        </Loaded>
      )}
    </Page>
  );
}

/** Nothing is here; what was, has been run again, and is in the record of attempts. */
function Nothing() {
  const failed = useInfiniteQuery(attemptsQuery({ outcome: "ERROR" })).data?.pages[0]?.attempts[0];
  return (
    <Empty title="Nothing has failed for good">
      Failures are repeated by themselves first. What still fails is collected here.
      {failed && (
        <>
          {" "}
          The last attempt that failed ended <Time value={failed.endedAt} />.
        </>
      )}
    </Empty>
  );
}

const COLUMNS: Column<DeadLetter>[] = [
  { key: "at", title: "When", isClear: true, cell: (row) => <Time value={row.at} /> },
  {
    key: "item",
    title: "Item",
    isClear: true,
    cell: (row) => (
      <Link to="/jobs/$jobId/items/$n" params={{ jobId: row.jobId, n: row.itemId }}>
        {row.itemId} of job {row.jobId}
      </Link>
    ),
  },
  { key: "step", title: "Step", isClear: true, cell: (row) => row.step },
  { key: "attempt", title: "Attempts", number: true, cell: (row) => row.attempt },
  { key: "class", title: "Class", cell: (row) => row.errorClass ?? "" },
  { key: "reason", title: "Reason", isClear: true, cell: (row) => row.reason ?? "" },
];

interface LettersProps {
  filter: { pipeline?: string; errorClass?: string };
  step: string | undefined;
  reason: string | undefined;
}

function Letters({ filter, step, reason }: LettersProps) {
  const query = useInfiniteQuery(lettersQuery(filter));
  const rows = (query.data?.pages.flatMap((page) => page.deadLetters) ?? []).filter(
    (row) => (!step || row.step === step) && (!reason || row.reason === reason),
  );
  return (
    <>
      <Loaded query={query} what="The dead letters" loading={<SkeletonRows rows={6} height={32} />}>
        {() =>
          rows.length > 0 ? (
            <Table
              label="Dead letters"
              columns={COLUMNS}
              rows={rows}
              rowKey={(row) => `${row.jobId} ${row.itemId} ${row.step}`}
            />
          ) : query.hasNextPage ? null : (
            <Empty title="Nothing of this kind is left" />
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
    </>
  );
}
