import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ShareFilter, sharesQuery } from "~/api/media";
import { useListKeys } from "~/shell/list-keys";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Chips } from "~/ui/chips";
import { Filters } from "~/ui/filters";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { TypedSearch } from "~/ui/typed-search";
import { AddMedia } from "./add";
import { ShareCard } from "./card";
import { KIND_WORDS, KINDS, STATE_WORDS, STATES } from "./kinds";
import css from "./media.module.css";
import { useFollowedShares } from "./use-followed";

const route = getRouteApi("/media");

export default function MediaPage() {
  const filter = route.useSearch();
  const navigate = useNavigate({ from: "/media" });
  const query = useInfiniteQuery(sharesQuery(filter));
  const shares = query.data?.pages.flatMap((page) => page.shares) ?? [];
  useFollowedShares(shares);
  const set = (change: ShareFilter) =>
    void navigate({
      search: (now) => {
        const next = { ...now, ...change };
        return Object.fromEntries(Object.entries(next).filter(([, value]) => value?.length)) as typeof now;
      },
      replace: true,
      resetScroll: false,
    });
  const keys = useListKeys({
    group: "Media",
    count: shares.length,
    onOpen: (index) => void navigate({ to: "/media/$id", params: { id: shares[index]!.id } }),
  });
  const isNarrowed = Object.keys(filter).length > 0;
  return (
    <Page title="Media" wide>
      <AddMedia />
      <Filters
        chips={
          <Chips
            label="Kind"
            chips={KINDS.map((value) => ({ value, label: KIND_WORDS[value] }))}
            chosen={filter.kind ?? []}
            onChange={(kind) => set({ kind })}
          />
        }
        search={
          <TypedSearch
            label="Search media"
            placeholder="Titles, authors and what is said"
            value={filter.q}
            onSearch={(q) => set({ q })}
          />
        }
        chosen={filter.state?.length ?? 0}
      >
        <Chips
          label="State of the file"
          chips={STATES.map((value) => ({ value, label: STATE_WORDS[value] }))}
          chosen={filter.state ?? []}
          onChange={(state) => set({ state })}
        />
      </Filters>
      <Loaded query={query} what="The media" loading={<SkeletonRows rows={3} height={216} />}>
        {() =>
          shares.length > 0 ? (
            <ul className={css.cards} aria-label="Media">
              {shares.map((share, index) => (
                <li key={share.id} {...keys.rowProps(index)} className={css.entry}>
                  <ShareCard share={share} />
                </li>
              ))}
            </ul>
          ) : query.hasNextPage ? null : (
            <Nothing isNarrowed={isNarrowed} onDrop={() => void navigate({ search: {} })} />
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

function Nothing({ isNarrowed, onDrop }: { isNarrowed: boolean; onDrop: () => void }) {
  if (isNarrowed) {
    return (
      <Empty title="Nothing matches" actions={<Button onClick={onDrop}>Drop the filter</Button>}>
        No media has all of what is chosen and searched for.
      </Empty>
    );
  }
  return (
    <Empty title="No media yet">
      Paste a link to a video, a podcast, a picture or a playlist. It is saved at once; the file is downloaded in the
      background, and what is said in it becomes text that can be searched.
    </Empty>
  );
}
