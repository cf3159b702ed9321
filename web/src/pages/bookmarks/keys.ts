import type { Bookmark } from "~/api/bookmarks";
import { type Command, useCommands } from "~/shell/commands";
import { type Act, undo } from "./actions";

interface BookmarkKeys {
  /** The selected ones, or the one that the keys are at, or that is open. */
  chosen: Bookmark[];
  archiving: "archive" | "unarchive";
  onAct: (act: Act) => void;
  onTags: () => void;
  onToggle: () => void;
  onWhy: () => void;
}

/** The keys of the list: what they do is done with the selection. */
export function useBookmarkKeys({ chosen, archiving, onAct, onTags, onToggle, onWhy }: BookmarkKeys): void {
  const command = (name: string, title: string, keys: string, run: () => void): Command => ({
    id: `bookmarks-${name}`,
    title,
    group: "Bookmarks",
    keys,
    run,
  });
  useCommands([
    command("archive", archiving === "archive" ? "Archive" : "Out of the archive", "e", () => onAct(archiving)),
    command("tags", "Tags", "t", onTags),
    command("trash", "Move to the trash", "#", () => onAct("delete")),
    command("again", "Read again", "r", () => onAct("crawl")),
    command("why", "Why it waits", "w", onWhy),
    command("undo", "Undo", "u", undo),
    command("all", "Select all or none", "*", onToggle),
    command("original", "Open the original", "o", () => {
      if (chosen[0]) globalThis.open(chosen[0].url, "_blank", "noopener");
    }),
  ]);
}
