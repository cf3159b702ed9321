import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Maximize2 } from "lucide-react";
import { lazy, Suspense } from "react";
import { bookmarkQuery } from "~/api/bookmarks";
import { titleOf } from "~/bookmarks/marks";
import { Panel } from "~/shell/panel";
import { Loaded } from "~/shell/trouble";
import { buttonClass } from "~/ui/button";
import { Skeleton } from "~/ui/skeleton";
import type { TabName } from "./detail";

// The list is there before anything is opened beside it.
const Detail = lazy(() => import("./detail").then((loaded) => ({ default: loaded.Detail })));

interface BookmarkPanelProps {
  id: string;
  tab: TabName | undefined;
  /** What the list knows already. */
  title: string | undefined;
  onTab: (tab: TabName) => void;
  onClose: () => void;
}

/** A bookmark beside the list. */
export function BookmarkPanel({ id, tab, title, onTab, onClose }: BookmarkPanelProps) {
  const query = useQuery(bookmarkQuery(id));
  const shown = query.data ? titleOf(query.data) : (title ?? "Bookmark");
  return (
    <Panel title={shown} onClose={onClose}>
      <Loaded query={query} what="The bookmark" loading={<LoadingDetail />}>
        {(bookmark) => (
          <Suspense fallback={<LoadingDetail />}>
            <Detail
              key={id}
              bookmark={bookmark}
              tab={tab}
              onTab={onTab}
              onGone={onClose}
              besideList
              more={
                <Link
                  to="/bookmarks/$id"
                  params={{ id }}
                  search={tab ? { tab } : {}}
                  className={buttonClass("plain", { icon: true })}
                  aria-label="Open as a page"
                  title="Open as a page"
                >
                  <Maximize2 />
                </Link>
              }
            />
          </Suspense>
        )}
      </Loaded>
    </Panel>
  );
}

export function LoadingDetail() {
  return (
    <div role="status" className="stack">
      <span className="only-heard">Loading</span>
      <Skeleton height={32} />
      <Skeleton height={40} />
      <Skeleton height={240} />
    </div>
  );
}
