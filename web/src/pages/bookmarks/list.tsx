import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { LayoutGrid, ListFilter, Rows3, Table2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { type Bookmark, bookmarksQuery, categoriesQuery, facetsQuery } from "~/api/bookmarks";
import { ProblemError } from "~/api/problem";
import { titleOf } from "~/bookmarks/marks";
import { exact } from "~/format";
import { fillBox } from "~/shell/box";
import { useListKeys } from "~/shell/list-keys";
import { Page } from "~/shell/page";
import { useSelection } from "~/shell/selection";
import { Loaded } from "~/shell/trouble";
import { TryLink } from "~/shell/try-sample";
import { Button } from "~/ui/button";
import { Select } from "~/ui/field";
import { More } from "~/ui/more";
import { Empty, Notice } from "~/ui/notice";
import { plural, sentence } from "~/words";
import { move } from "./actions";
import { AskDialog } from "./ask-dialog";
import css from "./bookmarks.module.css";
import { Bulk } from "./bulk";
import { Entries, LoadingEntries, type View } from "./entries";
import { FacetList } from "./facets";
import { bulkFilterOf, type Change, filterOf, isNarrowed } from "./filter";
import { useFollowed } from "./follow";
import { BookmarkPanel } from "./panel";
import { SearchField } from "./search-field";

const route = getRouteApi("/bookmarks");

const VIEWS = [
  { name: "cards", title: "Cards", Icon: LayoutGrid },
  { name: "list", title: "List", Icon: Rows3 },
  { name: "table", title: "Table", Icon: Table2 },
] as const;

export default function BookmarksPage() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/bookmarks" });
  const { view = "cards", sort, open, tab, ...shown } = search;
  const set = (change: Change & { view?: View | undefined; sort?: "oldest" | undefined }) =>
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
  const setOrder = (order: string) => set({ sort: order === "oldest" ? order : undefined });
  const filter = filterOf(shown);
  const query = useInfiniteQuery(bookmarksQuery(filter, sort));
  const facets = useQuery(facetsQuery(filter)).data;
  const categories = useQuery(categoriesQuery).data ?? [];
  const bookmarks = (query.data?.pages.flatMap((page) => page.bookmarks) ?? []) as Bookmark[];
  const ids = bookmarks.map((each) => each.id);
  useFollowed(bookmarks);

  const selection = useSelection(ids);
  const [tagged, setTagged] = useState<Bookmark>();
  const [showsFacets, setShowsFacets] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const show = (id: string | undefined) =>
    void navigate({ search: ({ open: _, ...now }) => (id ? { ...now, open: id } : now), resetScroll: false });
  const keys = useListKeys({
    group: "Bookmarks",
    count: bookmarks.length,
    onOpen: (index) => show(ids[index]),
    onSelect: selection.select,
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
    selection.clear();
    list.current?.focus();
  };
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
              <ListFilter /> <span className="only-heard">Filter</span>
            </Button>
          </span>
          <Select
            label="Order"
            hideLabel
            value={sort ?? "newest"}
            onChange={setOrder}
            options={[
              { value: "newest", label: "Newest first" },
              { value: "oldest", label: "Oldest first" },
            ]}
          />
          <fieldset className={css.views}>
            <legend className="only-heard">View</legend>
            {VIEWS.map(({ name, title, Icon }) => (
              <Button
                key={name}
                icon
                aria-label={title}
                aria-pressed={view === name}
                onClick={() => set({ view: name === "cards" ? undefined : name })}
              >
                <Icon />
              </Button>
            ))}
          </fieldset>
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
                  <Entries
                    ref={list}
                    view={view}
                    bookmarks={bookmarks}
                    categories={categories}
                    open={open}
                    selected={selection.ids}
                    onSelect={selection.select}
                    onArchive={(bookmark) => void move([bookmark], shown.archived ? "unarchive" : "archive")}
                    onTags={setTagged}
                    rowProps={keys.rowProps}
                    order={search.q ? undefined : (sort ?? "newest")}
                    onOrder={setOrder}
                  />
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
          <Bulk
            chosen={chosen}
            isSelecting={selection.ids.size > 0}
            all={selection.all ? bulkFilterOf(shown) : undefined}
            total={facets?.isExact ? facets.total : undefined}
            isArchive={Boolean(shown.archived)}
            onAll={selection.selectAllMatching}
            onToggle={selection.toggleAll}
            onDone={done}
            onWhy={(id) => void navigate({ search: (now) => ({ ...now, open: id, tab: "steps" }), resetScroll: false })}
          />
        </div>
      </div>
      {tagged && (
        <AskDialog asks="tags" chosen={[tagged]} all={undefined} count={1} onClose={() => setTagged(undefined)} />
      )}
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
        <>
          <Button look="primary" onClick={() => fillBox()}>
            Paste a link
          </Button>
          <TryLink />
        </>
      }
    >
      Paste a link anywhere. It is saved at once; its screenshot, text and picture follow.
    </Empty>
  );
}
