import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Bookmark, bookmarksQuery, changeBookmarks, facetsQuery } from "~/api/bookmarks";
import { titleOf } from "~/bookmarks/marks";
import { Icon } from "~/bookmarks/picture";
import { host } from "~/format";
import { useCommands } from "~/shell/commands";
import { Said } from "~/shell/failed";
import { useListKeys } from "~/shell/list-keys";
import { Page } from "~/shell/page";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button, buttonClass } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { List } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { plural } from "~/words";
import { move, undo } from "./actions";
import css from "./bookmarks.module.css";

const TRASH = { trash: true };

/** What was deleted, until it is deleted for good. */
export default function TrashPage() {
  const query = useInfiniteQuery(bookmarksQuery(TRASH));
  const counted = useQuery(facetsQuery(TRASH)).data;
  const [asks, setAsks] = useState(false);
  const bookmarks = (query.data?.pages.flatMap((page) => page.bookmarks) ?? []) as Bookmark[];
  const restore = (index: number) => {
    const bookmark = bookmarks[index];
    if (bookmark) void move([bookmark], "restore");
  };
  const keys = useListKeys({ group: "Trash", count: bookmarks.length, onOpen: restore });
  useCommands([{ id: "trash-undo", title: "Undo", group: "Trash", keys: "u", run: undo }]);
  return (
    <Page
      title="Trash"
      subtitle="Deleted bookmarks stay here for a while, then they are deleted for good."
      actions={
        bookmarks.length > 0 && (
          <Button look="danger" onClick={() => setAsks(true)}>
            Empty the trash
          </Button>
        )
      }
    >
      <Loaded query={query} what="The trash" loading={<SkeletonRows rows={6} height={56} />}>
        {() =>
          bookmarks.length > 0 ? (
            <List label="Deleted bookmarks">
              {bookmarks.map((bookmark, index) => (
                <li key={bookmark.id} {...keys.rowProps(index)} className={css.deleted}>
                  <Icon bookmark={bookmark} />
                  <span className={css.text}>
                    <span className="cut">{titleOf(bookmark)}</span>
                    <span className="muted">
                      {bookmark.site ?? host(bookmark.url)}
                      {bookmark.deletedAt && (
                        <>
                          , deleted <Time value={bookmark.deletedAt} />
                        </>
                      )}
                    </span>
                  </span>
                  <Button aria-label={`Restore ${titleOf(bookmark)}`} onClick={() => restore(index)}>
                    Restore
                  </Button>
                </li>
              ))}
            </List>
          ) : query.hasNextPage ? null : (
            <Empty
              title="The trash is empty"
              actions={
                <Link to="/bookmarks" className={buttonClass()}>
                  Show the bookmarks
                </Link>
              }
            />
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
      {asks && <EmptyDialog count={counted?.isExact ? counted.total : undefined} onClose={() => setAsks(false)} />}
    </Page>
  );
}

function EmptyDialog({ count, onClose }: { count: number | undefined; onClose: () => void }) {
  const purge = useMutation({
    mutationFn: () => changeBookmarks({ filter: { trash: true } }, { do: "purge" }),
    onSuccess: (deleted) => {
      onClose();
      toast(`${plural(deleted, "bookmark")} deleted for good.`);
    },
  });
  return (
    <Dialog
      title="Empty the trash?"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep them</Button>
          <Button look="danger" busy={purge.isPending} onClick={() => purge.mutate()}>
            Delete {count === undefined ? "all" : plural(count, "bookmark")}
          </Button>
        </>
      }
    >
      <p>They are deleted for good, with their screenshots and texts. This cannot be undone.</p>
      <Said error={purge.error} />
    </Dialog>
  );
}
