import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type Instance, type InstanceFilter, instancesQuery, retryFiles } from "~/api/attachments";
import { bytes } from "~/format";
import { useTopics } from "~/live";
import { Failed } from "~/shell/failed";
import { useListKeys } from "~/shell/list-keys";
import { Page } from "~/shell/page";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Bar } from "~/ui/bar";
import { Button } from "~/ui/button";
import { Chips } from "~/ui/chips";
import { Filters } from "~/ui/filters";
import { List } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { TypedSearch } from "~/ui/typed-search";
import { plural, sentence, statusWord } from "~/words";
import css from "./attachments.module.css";
import { AttachmentPlaces } from "./places";
import { FILE_STATUSES, filesWords, nameOf, VOUCHERS } from "./words";

const route = getRouteApi("/attachments");
const STATUSES = ["PENDING", "DOWNLOADED", "FAILED"] as const;

export default function AttachmentsPage() {
  const filter = route.useSearch();
  const navigate = useNavigate({ from: "/attachments" });
  useTopics("jobs");
  const query = useInfiniteQuery(instancesQuery(filter));
  const instances = query.data?.pages.flatMap((page) => page.items) ?? [];
  const set = (change: InstanceFilter) =>
    void navigate({
      search: (now) => {
        const next = Object.entries({ ...now, ...change }).filter(([, value]) => value !== undefined);
        return Object.fromEntries(next) as typeof now;
      },
      replace: true,
      resetScroll: false,
    });
  const keys = useListKeys({
    group: "Attachments",
    count: instances.length,
    onOpen: (index) => void navigate({ to: "/attachments/$id", params: { id: instances[index]!.id } }),
  });
  const hasFailed = instances.some(({ files }) => files.failed > 0);
  return (
    <Page title="Attachments" actions={hasFailed && <RetryAll />}>
      <AttachmentPlaces />
      <Filters
        chips={
          <Chips
            label="With a file that is"
            chips={STATUSES.map((value) => ({ value, label: FILE_STATUSES[value].word }))}
            chosen={filter.status ? [filter.status] : []}
            onChange={(chosen) => set({ status: chosen.at(-1) })}
          />
        }
        search={
          <TypedSearch
            label="Search attachments"
            placeholder="Titles and keys"
            value={filter.q}
            onSearch={(q) => set({ q })}
          />
        }
      />
      <Loaded query={query} what="The attachments" loading={<SkeletonRows rows={8} height={56} />}>
        {() =>
          instances.length > 0 ? (
            <List label="Instances">
              {instances.map((instance, index) => (
                <li key={instance.id} {...keys.rowProps(index)} className={css.item}>
                  <InstanceLine instance={instance} />
                </li>
              ))}
            </List>
          ) : query.hasNextPage ? null : (
            <Nothing isNarrowed={Object.keys(filter).length > 0} onDrop={() => void navigate({ search: {} })} />
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
    </Page>
  );
}

function RetryAll() {
  const retry = useMutation({
    mutationFn: () => retryFiles("all"),
    onSuccess: (files) => toast(`${plural(files, "file")} that failed ${files === 1 ? "is" : "are"} downloaded again.`),
  });
  return (
    <>
      <Button busy={retry.isPending} onClick={() => retry.mutate()}>
        Retry all that failed
      </Button>
      <Failed of={retry} what="Nothing was started again." />
    </>
  );
}

function InstanceLine({ instance }: { instance: Instance }) {
  const { files } = instance;
  return (
    <Link to="/attachments/$id" params={{ id: instance.id }} className={css.line}>
      <span className={css.what}>
        <span className={css.name}>{nameOf(instance)}</span>
        <span className={css.side}>
          {[instance.source, instance.state && statusWord(instance.state)].filter(Boolean).join(", ")}
        </span>
      </span>
      <span className={css.what}>
        <Bar
          counts={{ done: files.downloaded, error: files.failed, pending: files.pending }}
          label={nameOf(instance)}
        />
        <span className={css.side}>
          {instance.problem
            ? sentence(instance.problem)
            : [filesWords(instance), instance.bytes > 0 && bytes(instance.bytes)].filter(Boolean).join(", ")}
        </span>
      </span>
      <span className={css.side}>{VOUCHERS[instance.voucher]}</span>
      <span className={css.age}>
        <Time value={instance.receivedAt} />
      </span>
    </Link>
  );
}

function Nothing({ isNarrowed, onDrop }: { isNarrowed: boolean; onDrop: () => void }) {
  if (isNarrowed) {
    return (
      <Empty title="Nothing matches" actions={<Button onClick={onDrop}>Drop the filter</Button>}>
        No instance has all of what is chosen and searched for.
      </Empty>
    );
  }
  return (
    <Empty title="Nothing has been received yet">
      Approvals and other announcements come by webhooks. Their files are downloaded in the background, and listed in a
      voucher. <Link to="/attachments/status">Status</Link> says which senders are set up, and what is missing.
    </Empty>
  );
}
