import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { deliveriesQuery } from "~/api/attachments";
import { useTopics } from "~/live";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Chips } from "~/ui/chips";
import { Filters } from "~/ui/filters";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { DeliveryTable } from "./delivery-table";
import { AttachmentPlaces } from "./places";
import { VERDICTS } from "./words";

const route = getRouteApi("/attachments/deliveries");
const NAMES = ["ACCEPTED", "DUPLICATE", "IGNORED", "CHALLENGE", "REJECTED"] as const;

export default function DeliveriesPage() {
  const filter = route.useSearch();
  const navigate = useNavigate({ from: "/attachments/deliveries" });
  useTopics("jobs");
  const query = useInfiniteQuery(deliveriesQuery(filter));
  const deliveries = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title="Deliveries" subtitle="What senders have sent, and what was thought of it, the newest first.">
      <AttachmentPlaces />
      <Filters
        chips={
          <Chips
            label="Verdict"
            chips={NAMES.map((value) => ({ value, label: VERDICTS[value].word }))}
            chosen={filter.verdict ? [filter.verdict] : []}
            onChange={(chosen) => {
              const verdict = chosen.at(-1);
              void navigate({
                search: ({ verdict: _, ...now }) => (verdict ? { ...now, verdict } : now),
                replace: true,
                resetScroll: false,
              });
            }}
          />
        }
      />
      <Loaded query={query} what="The deliveries" loading={<SkeletonRows rows={8} height={32} />}>
        {() =>
          deliveries.length > 0 ? (
            <DeliveryTable deliveries={deliveries} />
          ) : query.hasNextPage ? null : Object.keys(filter).length > 0 ? (
            <Empty
              title="No delivery matches"
              actions={<Button onClick={() => void navigate({ search: {} })}>Drop the filter</Button>}
            />
          ) : (
            <Empty title="Nothing has been sent yet">
              Each request to a webhook is listed here, also those that are rejected, with the reason.
            </Empty>
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
