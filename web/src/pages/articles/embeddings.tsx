import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import {
  articleStatsQuery,
  clearCompletedTasks,
  type EmbeddingTask,
  embeddingTasksQuery,
  reindexArticles,
  retryFailedTasks,
  type TaskStatus,
} from "~/api/articles";
import { jobsQuery } from "~/api/jobs";
import { trackJob } from "~/jobs/tracked";
import { useTopics } from "~/live";
import { Failed } from "~/shell/failed";
import { Page } from "~/shell/page";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Amount } from "~/ui/amount";
import { Button } from "~/ui/button";
import { Chips } from "~/ui/chips";
import { type Column, Table } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { Section } from "~/ui/section";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { plural, sentence } from "~/words";
import css from "./articles.module.css";
import { ArticlePlaces } from "./places";
import { ReindexJob } from "./reindex-job";

const route = getRouteApi("/articles/embeddings");

const STATUSES = {
  pending: { status: "PENDING", word: "Waiting" },
  processing: { status: "PROCESSING", word: "Running" },
  completed: { status: "DONE", word: "Done" },
  failed: { status: "FAILED", word: "Failed" },
} as const satisfies Record<TaskStatus, unknown>;
const NAMES = Object.keys(STATUSES) as TaskStatus[];
const OPERATIONS = { create: "New", update: "Changed", delete: "Deleted" } as const;
const OPEN = { pipeline: "articles", state: "QUEUED,RUNNING,PAUSED", q: "reindex", pageSize: 5 };

/** The tasks that bring the index up to date: how many, which, and again. */
export default function EmbeddingsPage() {
  const { status = [] } = route.useSearch();
  const navigate = useNavigate({ from: "/articles/embeddings" });
  useTopics("jobs");
  const stats = useQuery(articleStatsQuery);
  const open = useQuery(jobsQuery(OPEN)).data?.jobs ?? [];
  const query = useInfiniteQuery(embeddingTasksQuery(status));
  const tasks = query.data?.pages.flatMap((page) => page.tasks) ?? [];
  return (
    <Page
      title="Embeddings"
      subtitle="Each saved article is a task: its text is made into vectors, by which the search finds it."
    >
      <ArticlePlaces />
      <dl className={css.numbers}>
        {NAMES.map((name) => (
          <div key={name}>
            <dt>
              <Pill status={STATUSES[name].status}>{STATUSES[name].word}</Pill>
            </dt>
            <dd>{stats.data ? <Amount value={stats.data[name]} /> : "–"}</dd>
          </div>
        ))}
      </dl>
      <Again failed={stats.data?.failed ?? 0} completed={stats.data?.completed ?? 0} />
      {open.length > 0 && (
        <Section title="Being embedded again">
          {open.map((job) => (
            <ReindexJob key={job.id} job={job} />
          ))}
        </Section>
      )}
      <Section title="Tasks">
        <Chips
          label="Status"
          chosen={status}
          onChange={(chosen) =>
            void navigate({ search: chosen.length > 0 ? { status: chosen } : {}, replace: true, resetScroll: false })
          }
          chips={NAMES.map((value) => ({ value, label: STATUSES[value].word }))}
        />
        <Loaded query={query} what="The tasks" loading={<SkeletonRows rows={6} />}>
          {() =>
            tasks.length > 0 ? (
              <Table label="Tasks of articles" columns={COLUMNS} rows={tasks} rowKey={({ id }) => id} />
            ) : query.hasNextPage ? null : (
              <Empty title={status.length > 0 ? "No task matches" : "No tasks yet"}>
                A task appears here as soon as an article is saved.
              </Empty>
            )
          }
        </Loaded>
        <More
          hasMore={query.hasNextPage}
          isLoading={query.isFetchingNextPage}
          onMore={() => void query.fetchNextPage()}
        />
      </Section>
    </Page>
  );
}

/** What a person can do with all tasks at once. */
function Again({ failed, completed }: { failed: number; completed: number }) {
  const reindex = useMutation({
    mutationFn: reindexArticles,
    onSuccess: ({ jobId, items, created }) => {
      if (jobId === null) toast("All articles are embedded: there is nothing to do.");
      else if (!created) toast("They are being embedded already.");
      else {
        toast(`${plural(items, "article")} will be embedded, after everything else.`);
        trackJob({ jobId, title: "Embed all articles", href: `/jobs/${jobId}`, noun: "article" });
      }
    },
  });
  const retry = useMutation({
    mutationFn: retryFailedTasks,
    onSuccess: (retried) => toast(`${plural(retried, "failed task")} ${retried === 1 ? "runs" : "run"} again.`),
  });
  const clear = useMutation({
    mutationFn: clearCompletedTasks,
    onSuccess: (cleared) => toast(`${plural(cleared, "old task")} cleared.`),
  });
  return (
    <>
      <div className="row">
        <Button busy={reindex.isPending} onClick={() => reindex.mutate()}>
          Embed all that need it
        </Button>
        <Button disabled={failed === 0} busy={retry.isPending} onClick={() => retry.mutate()}>
          Retry all failed
        </Button>
        <Button look="plain" disabled={completed === 0} busy={clear.isPending} onClick={() => clear.mutate()}>
          Clear old tasks
        </Button>
      </div>
      <Failed of={reindex} what="The articles were not queued." />
      <Failed of={retry} what="The failed tasks were not queued." />
      <Failed of={clear} what="The tasks were not cleared." />
    </>
  );
}

const COLUMNS: Column<EmbeddingTask>[] = [
  {
    key: "status",
    title: "Status",
    isClear: true,
    cell: ({ status }) => <Pill status={STATUSES[status].status}>{STATUSES[status].word}</Pill>,
  },
  {
    key: "article",
    title: "Article",
    isClear: true,
    cell: ({ articleId, slug, operation }) =>
      operation === "delete" ? (
        slug
      ) : (
        <Link to="/articles/$id" params={{ id: articleId }}>
          {slug}
        </Link>
      ),
  },
  { key: "operation", title: "Because", isClear: true, cell: ({ operation }) => OPERATIONS[operation] },
  {
    key: "attempts",
    title: "Attempts",
    number: true,
    cell: ({ attempts, maxAttempts }) => `${attempts} of ${maxAttempts}`,
  },
  { key: "created", title: "Saved", cell: ({ createdAt }) => <Time value={createdAt} /> },
  {
    key: "ended",
    title: "Ended",
    cell: ({ completedAt }) => (completedAt ? <Time value={completedAt} /> : ""),
  },
  { key: "problem", title: "Why", cell: ({ errorMessage }) => (errorMessage ? sentence(errorMessage) : "") },
  {
    key: "job",
    title: "Job",
    number: true,
    cell: ({ jobId }) => (
      <Link to="/jobs/$jobId" params={{ jobId }}>
        {jobId}
      </Link>
    ),
  },
];
