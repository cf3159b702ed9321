import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useApp, useIsAdmin } from "~/api/app";
import { ITEM_STATUSES, OPEN_STATUSES, pendingQuery } from "~/api/items";
import { OpenItem } from "~/items/item-panel";
import { WhoseSelect } from "~/jobs/whose-select";
import { useTopics } from "~/live";
import { DateRange, timesOf } from "~/pending/dates";
import { PendingTable } from "~/pending/pending-table";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Chips } from "~/ui/chips";
import { Field, Select } from "~/ui/field";
import { Filters } from "~/ui/filters";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { statusWord } from "~/words";

const route = getRouteApi("/pending");
const OPEN: readonly string[] = OPEN_STATUSES;

export default function PendingPage() {
  const { features } = useApp();
  if (!features.pending) {
    return (
      <Page title="Pending">
        <Empty title="This page is switched off">
          Set FOREBAY_PENDING_ENABLED=true for the API to see open items over all jobs. Each job has its own Pending
          tab.
        </Empty>
      </Page>
    );
  }
  return <Pending />;
}

function Pending() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/pending" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const { pipelines } = useApp();
  const isAdmin = useIsAdmin();
  useTopics("jobs");
  // Items that have ended are found in one job only: over all jobs there are too many of them.
  const offered = search.job ? [...ITEM_STATUSES] : [...OPEN_STATUSES];
  const chosenHere = search.status?.filter((status) => (offered as string[]).includes(status)) ?? [];
  const statuses = chosenHere.length > 0 ? chosenHere : [...OPEN];
  const query = useInfiniteQuery(
    pendingQuery({
      statuses: statuses.join(","),
      ...(search.pipeline && { jobType: search.pipeline }),
      ...(search.job && { jobId: search.job }),
      ...timesOf(search),
      ...(search.owner && { userId: search.owner }),
    }),
  );
  const rows = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page
      title="Pending"
      subtitle="Open items of all jobs, in the order of their numbers; with a JobId, ended ones as well."
      wide
    >
      <Filters
        chips={
          <Chips
            label="Status"
            chosen={statuses}
            onChange={(chosen) => set({ status: chosen.length > 0 && !isDefault(chosen) ? chosen : undefined })}
            chips={offered.map((value) => ({ value: value as string, label: statusWord(value) }))}
          />
        }
        chosen={[search.pipeline, search.job, search.from, search.to, search.owner].filter(Boolean).length}
      >
        <Select
          label="JobType"
          value={search.pipeline ?? ""}
          onChange={(value) => set({ pipeline: value || undefined })}
          options={[
            { value: "", label: "All" },
            ...pipelines.map((pipeline) => ({ value: pipeline.name, label: pipeline.title })),
          ]}
        />
        <JobId key={search.job} value={search.job} onChange={(job) => set({ job })} />
        <DateRange days={search} onChange={set} />
        {isAdmin && <WhoseSelect owner={search.owner} onChange={(owner) => set({ owner })} />}
      </Filters>
      <More
        hasMore={query.hasPreviousPage}
        isLoading={query.isFetchingPreviousPage}
        onMore={() => void query.fetchPreviousPage()}
      />
      <Loaded query={query} what="The items" loading={<SkeletonRows rows={10} height={32} />}>
        {() =>
          rows.length > 0 ? (
            <PendingTable rows={rows} />
          ) : query.hasNextPage ? null : (
            <Empty
              title={Object.keys(search).length > 0 ? "Nothing matches" : "Nothing waits or runs"}
              actions={
                Object.keys(search).length > 0 && (
                  <Button onClick={() => void navigate({ search: {} })}>Drop the filter</Button>
                )
              }
            >
              Items appear here while they wait or run.
            </Empty>
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
      <OpenItem />
    </Page>
  );
}

function isDefault(chosen: string[]): boolean {
  return chosen.length === OPEN.length && OPEN.every((status) => chosen.includes(status));
}

interface JobIdProps {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** It filters when it is left, or by Enter; what is no number filters nothing. */
function JobId({ value = "", onChange }: JobIdProps) {
  const [isWrong, setWrong] = useState(false);
  return (
    <Field
      label="JobId"
      inputMode="numeric"
      defaultValue={value}
      {...(isWrong && { wrong: "a number, as 123" })}
      onBlur={(event) => {
        const given = event.currentTarget.value.trim().replace(/^#/, "");
        setWrong(!/^[0-9]{0,18}$/.test(given));
        if (/^[0-9]{0,18}$/.test(given) && given !== value) onChange(given || undefined);
      }}
      onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
    />
  );
}
