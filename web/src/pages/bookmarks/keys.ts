import type { Bookmark } from "~/api/bookmarks";
import { type Command, useCommands } from "~/shell/commands";
import { crawlAgain, move, undo } from "./actions";

interface BookmarkKeys {
  /** The selected ones, or the one that the keys are at, or that is open. */
  chosen: Bookmark[];
  isArchive: boolean;
  onAll: () => void;
  onTags: () => void;
  onDone: (haveLeft: boolean) => void;
}

/** The keys of the list: what they do is done with the selection. */
export function useBookmarkKeys({ chosen, isArchive, onAll, onTags, onDone }: BookmarkKeys): void {
  const command = (name: string, title: string, keys: string, run: () => unknown): Command => ({
    id: `bookmarks-${name}`,
    title,
    group: "Bookmarks",
    keys,
    run: () => void run(),
  });
  const withChosen = (act: (bookmarks: Bookmark[]) => Promise<void>, haveLeft: boolean) => () => {
    if (chosen.length > 0) void act(chosen).then(() => onDone(haveLeft));
  };
  useCommands([
    command(
      "archive",
      isArchive ? "Out of the archive" : "Archive",
      "e",
      withChosen((own) => move(own, isArchive ? "unarchive" : "archive"), true),
    ),
    command("tags", "Tags", "t", () => chosen.length > 0 && onTags()),
    command(
      "trash",
      "Move to the trash",
      "#",
      withChosen((own) => move(own, "delete"), true),
    ),
    command("again", "Read again", "r", withChosen(crawlAgain, false)),
    command("undo", "Undo", "u", undo),
    command("all", "Select all or none", "*", onAll),
    command(
      "original",
      "Open the original",
      "o",
      () => chosen[0] && globalThis.open(chosen[0].url, "_blank", "noopener"),
    ),
  ]);
}
