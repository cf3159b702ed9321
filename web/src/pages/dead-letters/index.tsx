import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useApp, useIsAdmin } from "~/api/app";
import { type LetterGroup, lettersQuery, lettersSummaryQuery } from "~/api/dead-letters";
import { attemptsQuery } from "~/api/record";
import { exact } from "~/format";
import { WhoseSelect } from "~/jobs/whose-select";
import { useTopics } from "~/live";
import { Page } from "~/shell/page";
import { useStore } from "~/shell/store";
import { Loaded } from "~/shell/trouble";
import { Select } from "~/ui/field";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import css from "./dead-letters.module.css";
import { byOf, filterOf, GROUPED_BY, groupsOf, isOneGroup, type LetterSearch, searchOf } from "./filter";
import { Groups, OpenGroup } from "./groups";
import { Letters } from "./letters";
import { groupKey, retries, retriesOf, withRetried } from "./retries";
import { RetryAll } from "./retry-all";

const route = getRouteApi("/dead-letters");

export default function DeadLettersPage() {
  const search = route.useSearch();
  useTopics("jobs");
  return (
    <Page title="Dead letters" subtitle="What has failed for good, in groups." wide={isOneGroup(search)}>
      {isOneGroup(search) ? <OneGroup search={search} /> : <AllGroups search={search} />}
    </Page>
  );
}

function summaryOf(search: LetterSearch) {
  return lettersSummaryQuery({ ...filterOf(search), by: GROUPED_BY[search.by ?? "reason"] });
}

function AllGroups({ search }: { search: LetterSearch }) {
  const { by = "reason", pipeline } = search;
  const isShown = (group: LetterGroup) => byOf(group) === by && (!pipeline || group.pipeline === pipeline);
  const retried = retriesOf(useStore(retries), isShown);
  const summary = useQuery(summaryOf(search));
  const isNarrowed = Boolean(search.pipeline ?? search.owner);
  return (
    <Loaded query={summary} what="The dead letters" loading={<SkeletonRows rows={4} height={88} />}>
      {({ groups, complete, searched }) =>
        groups.length === 0 && retried.size === 0 && !isNarrowed ? (
          <Nothing />
        ) : (
          <>
            <Tools search={search} canRetry={groups.length > 0} />
            {groups.length === 0 && retried.size === 0 ? (
              <Empty title="Nothing of this kind has failed for good" />
            ) : (
              <Groups groups={withRetried(groups, retried)} retried={retried} search={search} />
            )}
            {!complete && <p className="muted">The newest {exact(searched)} were looked at.</p>}
          </>
        )
      }
    </Loaded>
  );
}

/** How the groups are made, and of what; and all of them at once. */
function Tools({ search, canRetry }: { search: LetterSearch; canRetry: boolean }) {
  const navigate = useNavigate({ from: "/dead-letters" });
  const { pipelines } = useApp();
  const isAdmin = useIsAdmin();
  const set = (change: { [K in keyof LetterSearch]: LetterSearch[K] | undefined }) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  return (
    <div className={css.tools}>
      <Select
        label="Groups"
        value={search.by ?? "reason"}
        onChange={(by) => set({ by: by === "reason" ? undefined : by })}
        options={[
          { value: "reason", label: "By reason" },
          { value: "step", label: "By step" },
          { value: "class", label: "By class of error" },
        ]}
      />
      <Select
        label="Pipeline"
        value={search.pipeline ?? ""}
        onChange={(value) => set({ pipeline: value || undefined })}
        options={[{ value: "", label: "All" }, ...pipelines.map(({ name, title }) => ({ value: name, label: title }))]}
      />
      {isAdmin && <WhoseSelect owner={search.owner} onChange={(owner) => set({ owner })} />}
      {canRetry && (
        <span className={css.last}>
          <RetryAll filter={filterOf(search)} />
        </span>
      )}
    </div>
  );
}

function OneGroup({ search }: { search: LetterSearch }) {
  const summary = useQuery(summaryOf(search));
  const asked = JSON.stringify(filterOf(search));
  const isShown = (group: LetterGroup) => JSON.stringify(filterOf(searchOf(group, search))) === asked;
  const retried = retriesOf(useStore(retries), isShown);
  const groups = withRetried(summary.data?.groups ?? [], retried);
  // Drawn together: the group would move its letters.
  const isLoading = useInfiniteQuery(lettersQuery(filterOf(search))).isPending || summary.isPending;
  return (
    <>
      <Link to="/dead-letters" search={groupsOf(search)}>
        All groups
      </Link>
      {isLoading ? (
        <SkeletonRows rows={6} height={64} />
      ) : (
        <>
          <Loaded query={summary} what="The group" loading={null}>
            {() =>
              groups.map((group) => (
                <OpenGroup key={groupKey(group)} group={group} retry={retried.get(groupKey(group))} search={search} />
              ))
            }
          </Loaded>
          <Letters search={search} group={groups[0]} />
        </>
      )}
    </>
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
