import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useApp, useIsAdmin } from "~/api/app";
import type { ItemRow } from "~/api/items";
import { itemTitle, WHOLE } from "~/api/items";
import type { Job } from "~/api/jobs";
import { MOST_ITEMS, timelineQuery } from "~/api/timeline";
import { exact } from "~/format";
import { spansOfItems } from "~/graph/item-spans";
import { Timeline } from "~/graph/timeline-view";
import { Loaded } from "~/shell/trouble";
import { SkeletonRows } from "~/ui/skeleton";
import { HeatStrips } from "./heat-strips";
import css from "./jobs.module.css";

/** What the items of a job did when; of a large job those that ran last. */
export function JobTimeline({ job }: { job: Job }) {
  const query = useQuery(timelineQuery(job, useApp().me));
  const isAdmin = useIsAdmin();
  const isWhole = job.counters.total <= MOST_ITEMS;
  return (
    <div className={css.section}>
      {!isWhole && isAdmin && <HeatStrips pipeline={job.pipeline} />}
      <Loaded query={query} what="The timeline" loading={<SkeletonRows rows={8} height={28} />}>
        {({ items, attempts, isCut }) => {
          const spans = spansOfItems(job, items, attempts, new Date());
          const known = new Map(items.map((item) => [item.id, item]));
          const ids = isWhole ? [...known.keys()] : [...new Set(attempts.map((attempt) => attempt.itemId))];
          return (
            <>
              {!isWhole && attempts.length > 0 && (
                <p className="muted">
                  The last {exact(attempts.length)} attempts. A job of up to {MOST_ITEMS} items shows all of them.
                </p>
              )}
              {isWhole && isCut && <p className="muted">Only the last {exact(attempts.length)} attempts are drawn.</p>}
              <Timeline
                label="Timeline of the job"
                rows={ids.map((id) => ({ key: id, name: <ItemName jobId={job.id} id={id} row={known.get(id)} /> }))}
                spans={spans}
              />
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

function ItemName({ jobId, id, row }: { jobId: string; id: string; row: ItemRow | undefined }) {
  return (
    <Link to="/jobs/$jobId/items/$n" params={{ jobId, n: id }} title={row && itemTitle(row)}>
      {row ? itemTitle(row) : id === WHOLE ? "all items" : `item ${id}`}
    </Link>
  );
}
