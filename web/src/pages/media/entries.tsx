import { useInfiniteQuery } from "@tanstack/react-query";
import { sharesQuery } from "~/api/media";
import { Loaded } from "~/shell/trouble";
import { More } from "~/ui/more";
import { Section } from "~/ui/section";
import { SkeletonRows } from "~/ui/skeleton";
import { ShareCard } from "./card";
import css from "./media.module.css";
import { useFollowedShares } from "./use-followed";

/** The entries of a playlist. */
export function Entries({ playlistId }: { playlistId: string }) {
  const query = useInfiniteQuery(sharesQuery({ playlistId }));
  const entries = query.data?.pages.flatMap((page) => page.shares) ?? [];
  useFollowedShares(entries);
  return (
    <Section title="Entries">
      <Loaded query={query} what="The entries" loading={<SkeletonRows rows={2} height={216} />}>
        {() => (
          <ul className={css.cards} aria-label="Entries">
            {entries.map((entry) => (
              <li key={entry.id} className={css.entry}>
                <ShareCard share={entry} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
    </Section>
  );
}
