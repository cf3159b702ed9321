import { useInfiniteQuery } from "@tanstack/react-query";
import { versionsQuery, type WholeBookmark } from "~/api/bookmarks";
import { Difference } from "~/difference/difference";
import { Loaded } from "~/shell/trouble";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { plural } from "~/words";
import css from "./bookmarks.module.css";

/** What has changed between readings of the page. */
export function History({ bookmark }: { bookmark: WholeBookmark }) {
  const query = useInfiniteQuery(versionsQuery(bookmark.id));
  const versions = query.data?.pages.flatMap((page) => page.changes) ?? [];
  return (
    <>
      <Loaded query={query} what="The history" loading={<SkeletonRows rows={3} height={64} />}>
        {() =>
          versions.length === 0 ? (
            <Empty title="Nothing has changed yet">
              When the page is read again and says something else, the difference is kept here.
            </Empty>
          ) : (
            <ol className="stack">
              {versions.map((version) => (
                <li key={version.at} className={css.version}>
                  <p>
                    <strong>
                      <Time value={version.at} />
                    </strong>{" "}
                    <span className="muted">
                      before: {version.title ?? "no title"}
                      {version.words !== null && `, ${plural(version.words, "word")}`}
                    </span>
                  </p>
                  {version.difference ? (
                    <Difference text={version.difference} />
                  ) : (
                    <p className="muted">What has changed is not known.</p>
                  )}
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
    </>
  );
}
