import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { LayoutGrid, ListFilter, Rows3 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { type Bookmark, bookmarksQuery, categoriesQuery, facetsQuery } from "~/api/bookmarks";
import { ProblemError } from "~/api/problem";
import { exact } from "~/format";
import { fillBox } from "~/shell/box";
import { useListKeys } from "~/shell/list-keys";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Select } from "~/ui/field";
import { More } from "~/ui/more";
import { Empty, Notice } from "~/ui/notice";
import { Skeleton } from "~/ui/skeleton";
import { plural, sentence } from "~/words";
import css from "./bookmarks.module.css";
import { AskDialog, type Asks, BulkBar } from "./bulk";
import { Entry, titleOf } from "./card";
import { FacetList } from "./facets";
import { bulkFilterOf, type Change, filterOf, isNarrowed } from "./filter";
import { useFollowed } from "./follow";
import { useBookmarkKeys } from "./keys";
import { BookmarkPanel } from "./panel";
import { SearchField } from "./search-field";
import { allOrNone, extended, NOTHING, present, toggled } from "./selection";

const route = getRouteApi("/bookmarks");

export default function BookmarksPage() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/bookmarks" });
  const { view = "cards", sort, open, tab, ...shown } = search;
  const set = (change: Change & { view?: "list" | undefined; sort?: "oldest" | undefined }) =>
    void navigate({
      search: (now) => {
        const next = { ...now, ...change };
        for (const [name, value] of Object.entries(next)) {
          if (value === undefined || (Array.isArray(value) && value.length === 0))
            delete next[name as keyof typeof next];
        }
        return next as typeof now;
      },
      replace: true,
      resetScroll: false,
    });
  const filter = filterOf(shown);
  const query = useInfiniteQuery(bookmarksQuery(filter, sort));
  const facets = useQuery(facetsQuery(filter)).data;
  const categories = useQuery(categoriesQuery).data ?? [];
  const bookmarks = (query.data?.pages.flatMap((page) => page.bookmarks) ?? []) as Bookmark[];
  const ids = bookmarks.map((each) => each.id);
  useFollowed(bookmarks);

  const [given, setSelection] = useState(NOTHING);
  const selection = present(given, ids);
  const [asks, setAsks] = useState<Asks>();
  const [showsFacets, setShowsFacets] = useState(false);
  const list = useRef<HTMLUListElement>(null);
  const select = (index: number, isRange: boolean) => {
    const id = ids[index]!;
    setSelection(isRange ? extended(selection, id, ids) : toggled(selection, id));
  };
  const show = (id: string | undefined) =>
    void navigate({ search: ({ open: _, ...now }) => (id ? { ...now, open: id } : now), resetScroll: false });
  const keys = useListKeys({
    group: "Bookmarks",
    count: bookmarks.length,
    onOpen: (index) => show(ids[index]),
    onSelect: select,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the panel follows the keys, not the list
  useEffect(() => {
    const next = ids[keys.at];
    if (open && next && next !== open) show(next);
  }, [keys.at]);
  const chosen =
    selection.ids.size > 0
      ? bookmarks.filter((each) => selection.ids.has(each.id))
      : bookmarks.filter((each, index) => (open ? each.id === open : index === keys.at));
  const done = (haveLeft = false) => {
    if (haveLeft && chosen.some((each) => each.id === open)) show(undefined);
    setSelection(NOTHING);
    list.current?.focus();
  };
  useBookmarkKeys({
    chosen,
    isArchive: Boolean(search.archived),
    onAll: () => setSelection(allOrNone(selection, ids)),
    onTags: () => setAsks("tags"),
    onDone: done,
  });
  const refused = query.error instanceof ProblemError && query.error.status === 422 ? query.error : undefined;
  return (
    <Page
      title="Bookmarks"
      wide
      subtitle={facets ? totalWords(facets.total, facets.isExact) : "\u00a0"}
      actions={
        <>
          <span className={css.onlyNarrow}>
            <Button aria-expanded={showsFacets} onClick={() => setShowsFacets(!showsFacets)}>
              <ListFilter /> Filter
            </Button>
          </span>
          <Select
            label="Order"
            hideLabel
            value={sort ?? "newest"}
            onChange={(value) => set({ sort: value === "oldest" ? value : undefined })}
            options={[
              { value: "newest", label: "Newest first" },
              { value: "oldest", label: "Oldest first" },
            ]}
          />
          <Button icon aria-label="Cards" aria-pressed={view === "cards"} onClick={() => set({ view: undefined })}>
            <LayoutGrid />
          </Button>
          <Button icon aria-label="List" aria-pressed={view === "list"} onClick={() => set({ view: "list" })}>
            <Rows3 />
          </Button>
        </>
      }
    >
      <div className={css.layout}>
        <aside className={css.facets} aria-label="Filters" data-shown={showsFacets || undefined}>
          <FacetList shown={shown} facets={facets} onChange={set} />
        </aside>
        <div className={css.main}>
          <SearchField value={search.q} onSearch={(q) => set({ q })} facets={facets} categories={categories} />
          {refused ? (
            <Notice
              kind="error"
              title="This search cannot be read."
              actions={<Button onClick={() => set({ q: undefined })}>Drop the search</Button>}
            >
              {sentence(refused.at("query.q") ?? refused.message)}
            </Notice>
          ) : (
            <Loaded query={query} what="The bookmarks" loading={<LoadingEntries view={view} />}>
              {() =>
                bookmarks.length > 0 ? (
                  <ul
                    ref={list}
                    tabIndex={-1}
                    aria-label="Bookmarks"
                    className={view === "cards" ? css.cards : css.lines}
                    data-selecting={selection.ids.size > 0 || undefined}
                  >
                    {bookmarks.map((bookmark, index) => (
                      <li
                        key={bookmark.id}
                        {...keys.rowProps(index)}
                        className={css.entry}
                        data-open={bookmark.id === open || undefined}
                      >
                        <Entry
                          bookmark={bookmark}
                          view={view}
                          isSelected={selection.ids.has(bookmark.id)}
                          onSelect={(isRange) => select(index, isRange)}
                        />
                      </li>
                    ))}
                  </ul>
                ) : query.hasNextPage ? null : (
                  <Nothing
                    isNarrowed={isNarrowed(shown)}
                    isArchive={Boolean(shown.archived)}
                    onDrop={() => void navigate({ search: {} })}
                  />
                )
              }
            </Loaded>
          )}
          <More
            hasMore={query.hasNextPage}
            isLoading={query.isFetchingNextPage}
            onMore={() => void query.fetchNextPage()}
          />
          {selection.ids.size > 0 && (
            <BulkBar
              chosen={chosen}
              all={selection.all ? bulkFilterOf(shown) : undefined}
              total={facets?.isExact ? facets.total : undefined}
              isArchive={Boolean(shown.archived)}
              onAll={() => setSelection({ ids: new Set(ids), all: true })}
              onDone={done}
              onAsk={setAsks}
            />
          )}
        </div>
      </div>
      <AskDialog asks={asks} chosen={chosen} onClose={() => setAsks(undefined)} />
      {open && (
        <BookmarkPanel
          id={open}
          tab={tab}
          title={bookmarks.filter((each) => each.id === open).map(titleOf)[0]}
          onTab={(next) =>
            void navigate({ search: (now) => ({ ...now, tab: next }), replace: true, resetScroll: false })
          }
          onClose={() => show(undefined)}
        />
      )}
    </Page>
  );
}

function totalWords(total: number, isExact: boolean): string {
  return isExact ? plural(total, "bookmark") : `More than ${exact(total)} bookmarks`;
}

function Nothing({ isNarrowed, isArchive, onDrop }: { isNarrowed: boolean; isArchive: boolean; onDrop: () => void }) {
  if (isNarrowed) {
    return (
      <Empty title="No bookmark matches" actions={<Button onClick={onDrop}>Drop the filter</Button>}>
        Nothing has all of what is chosen and searched for.
      </Empty>
    );
  }
  if (isArchive) {
    return (
      <Empty title="The archive is empty" actions={<Button onClick={onDrop}>Show all bookmarks</Button>}>
        Archive what you have read: it stays searchable, and is out of the way.
      </Empty>
    );
  }
  return (
    <Empty
      title="No bookmarks yet"
      actions={
        <Button look="primary" onClick={() => fillBox()}>
          Paste a link
        </Button>
      }
    >
      Paste a link anywhere. It is saved at once; its screenshot, text and picture follow.
    </Empty>
  );
}

function LoadingEntries({ view }: { view: "cards" | "list" }) {
  return (
    <div role="status" className={view === "cards" ? css.cards : css.lines}>
      <span className="only-heard">Loading</span>
      {Array.from({ length: 8 }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all alike
        <Skeleton key={index} height={view === "cards" ? 232 : 48} />
      ))}
    </div>
  );
}
