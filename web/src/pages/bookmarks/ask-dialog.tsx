import type { Bookmark, BulkAction } from "~/api/bookmarks";
import type { Schema } from "~/api/client";
import { failedToast } from "~/shell/toasts";
import { changeAll, changeTags, moveToCategory } from "./actions";
import { CategoryDialog } from "./category-dialog";
import { TagDialog } from "./tag-dialog";

export type Asks = "tags" | "category" | undefined;

interface AskDialogProps {
  asks: Asks;
  chosen: Bookmark[];
  /** All that match are meant, of which `chosen` are loaded. */
  all?: Schema<"BulkFilter"> | undefined;
  count?: number;
  onClose: () => void;
}

/** The dialogs that ask which tags or which category; also when a key has opened them. */
export function AskDialog({ asks, chosen, all, count = chosen.length, onClose }: AskDialogProps) {
  const everywhere = (filter: Schema<"BulkFilter">, actions: BulkAction[]) =>
    void changeAll(filter, actions).catch((error: unknown) =>
      failedToast("Not all were changed.", error, () => everywhere(filter, actions)),
    );
  if (asks === "tags") {
    const save = (added: string[], removed: string[]) => {
      onClose();
      if (!all) return void changeTags(chosen, added, removed);
      everywhere(all, [
        ...(added.length > 0 ? [{ do: "tag", tags: added } as const] : []),
        ...(removed.length > 0 ? [{ do: "untag", tags: removed } as const] : []),
      ]);
    };
    return <TagDialog bookmarks={chosen} count={count} onClose={onClose} onSave={save} />;
  }
  if (asks === "category") {
    const save = (category: { id: string; name: string } | null) => {
      onClose();
      if (!all) return void moveToCategory(chosen, category);
      everywhere(all, [{ do: "category", categoryId: category?.id ?? null }]);
    };
    return <CategoryDialog bookmarks={chosen} count={count} onClose={onClose} onSave={save} />;
  }
  return null;
}
