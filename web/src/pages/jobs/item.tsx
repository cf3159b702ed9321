import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { usePipeline } from "~/api/app";
import { type Item, itemQuery } from "~/api/items";
import { whyQuery } from "~/api/why";
import { ItemActions } from "~/items/item-actions";
import { ItemDetail, LoadingItem } from "~/items/item-detail";
import { useTopics } from "~/live";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { Time } from "~/ui/time";
import { sentence } from "~/words";

const route = getRouteApi("/jobs/$jobId/items/$n");

export default function ItemPage() {
  const { jobId, n } = route.useParams();
  const query = useQuery(itemQuery(jobId, n));
  const why = useQuery(whyQuery(jobId, n)); // drawn together with the item: later it would move the rest
  useTopics(`items:${jobId}`);
  if (!query.data || why.isPending) {
    return (
      <Page title={`Item ${n} of job ${jobId}`}>
        <Loaded query={query} what={`Item ${n} of job ${jobId}`} loading={<LoadingItem />}>
          {() => <LoadingItem />}
        </Loaded>
      </Page>
    );
  }
  return <ShownItem key={`${jobId} ${n}`} item={query.data} />;
}

function ShownItem({ item }: { item: Item }) {
  const { title, noun } = usePipeline(item.pipeline);
  return (
    <Page
      title={`Item ${item.id} of job ${item.jobId}`}
      subtitle={
        <>
          {sentence(noun).replace(/\.$/, "")} of{" "}
          <Link to="/jobs/$jobId" params={{ jobId: item.jobId }}>
            {title}, job {item.jobId}
          </Link>
          , updated <Time value={item.updatedAt} />
        </>
      }
      actions={<ItemActions item={item} />}
    >
      <ItemDetail item={item} />
    </Page>
  );
}
