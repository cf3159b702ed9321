import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { usePipeline } from "~/api/app";
import { queryClient } from "~/api/client";
import { type DeadLetter, type LetterGroup, lettersQuery, lettersSummaryQuery, retryGroup } from "~/api/dead-letters";
import { exact } from "~/format";
import { useTopics } from "~/live";
import { Page } from "~/shell/page";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button, buttonClass } from "~/ui/button";
import { type Column, List, Table } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Sparkline } from "~/ui/sparkline";
import { Time } from "~/ui/time";
import { plural, sentence } from "~/words";
import css from "./dead-letters.module.css";

const route = getRouteApi("/dead-letters");

const CLASSES: Record<string, string> = {
  permanent: "No retry helps unless something changes.",
  data: "The input cannot be processed as it is.",
  transient: "All attempts failed; it may work later.",
  throttled: "The other side asked for patience for too long.",
  config: "Something is not set up.",
  resource: "The machine was at its limit.",
  not_found: "It is not there.",
};

export default function DeadLettersPage() {
  const { pipeline, class: errorClass, step, reason } = route.useSearch();
  const navigate = useNavigate({ from: "/dead-letters" });
  useTopics("jobs");
  const isOne = Boolean(step || reason || errorClass);
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
            groups.length === 0 ? (
              <Empty title="Nothing has failed for good">
                Failures are repeated by themselves first. What still fails is collected here.
              </Empty>
            ) : (
              <>
                <List label="Groups of dead letters">
                  {groups.map((group) => (
                    <Group key={`${group.pipeline} ${group.step} ${group.errorClass} ${group.reason}`} group={group} />
                  ))}
                </List>
                {!complete && <p className="muted">The newest {exact(searched)} were looked at.</p>}
              </>
            )
          }
        </Loaded>
      )}
    </Page>
  );
}

function Group({ group }: { group: LetterGroup }) {
  const { title, noun } = usePipeline(group.pipeline);
  const again = useMutation({
    mutationFn: () => retryGroup(group),
    onSuccess: ({ items, leftOut }) => {
      const left = leftOut > 0 ? ` ${plural(leftOut, "letter")} could not be.` : "";
      toast(`${plural(items, noun)} run${items === 1 ? "s" : ""} again.${left}`);
      void queryClient.invalidateQueries({ queryKey: ["dead-letters"] });
    },
    onError: (error) => toast(error.message),
  });
  return (
    <li className={css.group}>
      <span className={css.text}>
        <span className={css.reason}>{sentence(group.reason ?? "no reason was given")}</span>
        <span className={css.side}>
          {title}, {group.step}. {group.errorClass && (CLASSES[group.errorClass.toLowerCase()] ?? group.errorClass)}
        </span>
        <span className={css.side}>
          first <Time value={group.firstAt} />, last <Time value={group.lastAt} />
        </span>
      </span>
      <Sparkline values={group.perHour} label="Failures per hour" />
      <strong className={css.count}>{exact(group.count)}</strong>
      <span className={css.actions}>
        <Button busy={again.isPending} onClick={() => again.mutate()}>
          Retry {exact(group.count)}
        </Button>
        <Link
          to="/dead-letters"
          search={{
            pipeline: group.pipeline,
            ...(group.step && { step: group.step }),
            ...(group.errorClass && { class: group.errorClass }),
          }}
          className={buttonClass("plain")}
        >
          Show
        </Link>
      </span>
    </li>
  );
}

const COLUMNS: Column<DeadLetter>[] = [
  { key: "at", title: "When", cell: (row) => <Time value={row.at} /> },
  {
    key: "item",
    title: "Item",
    cell: (row) => (
      <Link to="/jobs/$jobId/items/$n" params={{ jobId: row.jobId, n: row.itemId }}>
        {row.itemId} of job {row.jobId}
      </Link>
    ),
  },
  { key: "step", title: "Step", cell: (row) => row.step },
  { key: "attempt", title: "Attempts", number: true, cell: (row) => row.attempt },
  { key: "class", title: "Class", cell: (row) => row.errorClass ?? "" },
  { key: "reason", title: "Reason", cell: (row) => row.reason ?? "" },
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
