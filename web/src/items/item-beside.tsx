import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Maximize2 } from "lucide-react";
import { itemQuery } from "~/api/items";
import { whyQuery } from "~/api/why";
import { useTopics } from "~/live";
import { Panel } from "~/shell/panel";
import { Loaded } from "~/shell/trouble";
import { buttonClass } from "~/ui/button";
import { ItemActions } from "./item-actions";
import { ItemDetail, LoadingItem } from "./item-detail";
import css from "./items.module.css";
import type { ItemPlace } from "./open-item";

/** An item beside its list. */
export default function ItemPanel({ place: { jobId, id }, onClose }: { place: ItemPlace; onClose: () => void }) {
  const query = useQuery(itemQuery(jobId, id));
  const why = useQuery(whyQuery(jobId, id)); // drawn together with the item: later it would move the rest
  useTopics(`items:${jobId}`);
  return (
    <Panel title={`Item ${id} of job ${jobId}`} onClose={onClose}>
      <Loaded query={query} what={`Item ${id}`} loading={<LoadingItem />}>
        {(item) =>
          why.isPending ? (
            <LoadingItem />
          ) : (
            <div className={css.panel} key={`${jobId} ${id}`}>
              <div className="row">
                <ItemActions item={item} />
                <Link
                  to="/jobs/$jobId/items/$n"
                  params={{ jobId, n: id }}
                  className={buttonClass("plain", { icon: true })}
                  aria-label="Open as a page"
                  title="Open as a page"
                >
                  <Maximize2 />
                </Link>
              </div>
              <ItemDetail item={item} besideList />
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}
