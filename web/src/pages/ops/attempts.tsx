import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { Schema } from "~/api/client";
import { attemptsQuery } from "~/api/record";
import { clock, dayOf } from "~/format";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Chips } from "~/ui/chips";
import { Filters } from "~/ui/filters";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { statusWord } from "~/words";
import { AttemptTable } from "./attempt-table";
import { FilterField } from "./filter-field";
import { OpsPage, useWhose } from "./ops-page";

type Outcome = Schema<"Attempt">["outcome"];
const OUTCOMES: Outcome[] = ["DONE", "NOT_FOUND", "SKIPPED", "ERROR", "THROTTLED", "SNOOZED", "EXPIRED", "RELEASED"];
const route = getRouteApi("/ops/attempts");

export default function AttemptsPage() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/ops/attempts" });
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const outcome = OUTCOMES.find((each) => each === search.outcome);
  const query = useInfiniteQuery(
    attemptsQuery({
      userId: useWhose(),
      ...(outcome && { outcome }),
      ...(search.step && { step: search.step }),
      ...(search.worker && { worker: search.worker }),
      ...(search.class && { errorClass: search.class }),
      ...(search.from && { from: search.from }),
      ...(search.to && { to: search.to }),
    }),
  );
  const rows = query.data?.pages.flatMap((page) => page.attempts) ?? [];
  return (
    <OpsPage title="Attempts" subtitle="Every run of a task, the newest first.">
      <Filters
        chips={
          <Chips
            label="Outcome"
            chips={OUTCOMES.map((value) => ({ value, label: statusWord(value) }))}
            chosen={outcome ? [outcome] : []}
            onChange={(chosen) => set({ outcome: chosen.at(-1) })}
          />
        }
        chosen={[search.step, search.worker, search.class].filter(Boolean).length}
      >
        <FilterField label="Step" value={search.step} onChange={(step) => set({ step })} />
        <FilterField label="Worker" value={search.worker} onChange={(worker) => set({ worker })} />
        <FilterField label="Class of error" value={search.class} onChange={(value) => set({ class: value })} />
      </Filters>
      {(search.from || search.to) && (
        <p className="row">
          <span>Ended {timeWords(search)}.</span>
          <Button onClick={() => set({ from: undefined, to: undefined })}>At any time</Button>
        </p>
      )}
      <Loaded query={query} what="The attempts" loading={<SkeletonRows rows={10} height={32} />}>
        {() =>
          rows.length > 0 ? (
            <AttemptTable rows={rows} />
          ) : query.hasNextPage ? null : Object.keys(search).length > 0 ? (
            <Empty
              title="No attempt matches"
              actions={<Button onClick={() => void navigate({ search: {} })}>Drop the filter</Button>}
            />
          ) : (
            <Empty title="No attempt has ended yet">An attempt is one run of a step for one item.</Empty>
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
    </OpsPage>
  );
}

/** "since 2026-01-01 10:01 and before 2026-01-01 10:02". */
function timeWords({ from, to }: { from?: string; to?: string }): string {
  const words = (time: string) => {
    const at = new Date(time);
    return Number.isNaN(at.getTime()) ? time : `${dayOf(at)} ${clock(at)}`;
  };
  return [from && `since ${words(from)}`, to && `before ${words(to)}`].filter(Boolean).join(" and ");
}
