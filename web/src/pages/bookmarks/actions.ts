import { type Bookmark, type BulkAction, changeBookmarks, putBookmarks } from "~/api/bookmarks";
import { queryClient, type Schema } from "~/api/client";
import { refreshBookmarks } from "~/api/live-bookmarks";
import { failedToast, toast } from "~/shell/toasts";
import { plural } from "~/words";

interface Doing {
  /** What is said when it has happened. */
  words: string;
  run: () => Promise<unknown>;
  /** How the list looks at once, before the server has answered. */
  show?: () => void;
  undo?: () => Promise<unknown>;
}

let undoLast: (() => void) | undefined;

/** The key `u`: take the last change back. */
export function undo(): void {
  if (undoLast) undoLast();
  else toast("There is nothing to undo.");
}

async function perform(doing: Doing): Promise<void> {
  const { words, run, show, undo: back } = doing;
  show?.();
  try {
    await run();
  } catch (error) {
    refreshBookmarks(queryClient);
    failedToast("Nothing was changed.", error, () => void perform(doing)); // its rows may have left the list
    return;
  }
  undoLast = back && once(back);
  toast(words, undoLast && { label: "Undo", run: undoLast });
}

function once(back: () => Promise<unknown>): () => void {
  const run = () => {
    if (undoLast === run) undoLast = undefined;
    back().then(
      () => toast("Undone."),
      (error: unknown) => failedToast("It could not be undone.", error, run),
    );
  };
  return run;
}

const idsOf = (bookmarks: Bookmark[]) => bookmarks.map((each) => each.id);
const said = (bookmarks: Bookmark[]) => plural(bookmarks.length, "bookmark");

const OPPOSITES = { archive: "unarchive", unarchive: "archive", delete: "restore", restore: "delete" } as const;
const DONE = {
  archive: "archived",
  unarchive: "moved out of the archive",
  delete: "moved to the trash",
  restore: "restored",
} as const;

/** Archive, move to the trash, and back: they leave the list that is shown. */
export function move(bookmarks: Bookmark[], to: keyof typeof OPPOSITES): Promise<void> {
  const ids = idsOf(bookmarks);
  return perform({
    words: `${said(bookmarks)} ${DONE[to]}.`,
    run: () => changeBookmarks({ ids }, { do: to }),
    show: () => putBookmarks(new Set(ids), () => undefined),
    undo: () => changeBookmarks({ ids }, { do: OPPOSITES[to] }),
  });
}

/** Add tags, and take tags away. Undo changes only what was changed. */
export function changeTags(bookmarks: Bookmark[], added: string[], removed: string[]): Promise<void> {
  const lacking = added.map((tag) => [tag, idsOf(bookmarks.filter((each) => !each.tags.includes(tag)))] as const);
  const having = removed.map((tag) => [tag, idsOf(bookmarks.filter((each) => each.tags.includes(tag)))] as const);
  const each = async (pairs: (readonly [string, string[]])[], action: "tag" | "untag") => {
    for (const [tag, ids] of pairs) if (ids.length > 0) await changeBookmarks({ ids }, { do: action, tags: [tag] });
  };
  return perform({
    words: `Tags of ${said(bookmarks)} changed.`,
    run: async () => {
      await each(lacking, "tag");
      await each(having, "untag");
    },
    show: () =>
      putBookmarks(new Set(idsOf(bookmarks)), (now) => ({
        ...now,
        tags: [...new Set([...now.tags, ...added])].filter((tag) => !removed.includes(tag)).sort(),
      })),
    undo: async () => {
      await each(lacking, "untag");
      await each(having, "tag");
    },
  });
}

export function moveToCategory(bookmarks: Bookmark[], category: { id: string; name: string } | null): Promise<void> {
  const before = Map.groupBy(bookmarks, (each) => each.categoryId);
  return perform({
    words: category ? `${said(bookmarks)} moved to ${category.name}.` : `${said(bookmarks)} without a category now.`,
    run: () => changeBookmarks({ ids: idsOf(bookmarks) }, { do: "category", categoryId: category?.id ?? null }),
    undo: async () => {
      for (const [categoryId, own] of before) {
        await changeBookmarks({ ids: idsOf(own) }, { do: "category", categoryId });
      }
    },
  });
}

export function crawlAgain(bookmarks: Bookmark[]): Promise<void> {
  const are = bookmarks.length === 1 ? "is" : "are";
  return perform({
    words: `${said(bookmarks)} ${are} read again.`,
    run: () => changeBookmarks({ ids: idsOf(bookmarks) }, { do: "crawl" }),
  });
}

export type Act = "archive" | "unarchive" | "delete" | "crawl";

export function changeChosen(bookmarks: Bookmark[], act: Act): Promise<void> {
  return act === "crawl" ? crawlAgain(bookmarks) : move(bookmarks, act);
}

/** Changes of all that match a filter: they cannot be undone exactly, so the person has seen their number before. */
export async function changeAll(filter: Schema<"BulkFilter">, actions: BulkAction[]): Promise<void> {
  let most = 0;
  for (const action of actions) most = Math.max(most, await changeBookmarks({ filter }, action));
  toast(`${plural(most, "bookmark")} changed.`);
}
