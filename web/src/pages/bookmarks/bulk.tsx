import { useMutation } from "@tanstack/react-query";
import { Archive, Folder, RefreshCw, Tag, Trash2, X } from "lucide-react";
import { useState } from "react";
import type { Bookmark, BulkAction } from "~/api/bookmarks";
import type { Schema } from "~/api/client";
import { exact } from "~/format";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { plural } from "~/words";
import { changeAll, changeTags, crawlAgain, move, moveToCategory } from "./actions";
import css from "./bookmarks.module.css";
import { CategoryDialog } from "./category-dialog";
import { TagDialog } from "./tag-dialog";

export type Asks = "tags" | "category" | undefined;

interface BulkBarProps {
  chosen: Bookmark[];
  /** All that match are meant, and this is their filter. */
  all: Schema<"BulkFilter"> | undefined;
  total: number | undefined;
  isArchive: boolean;
  onAll: () => void;
  /** The selection ends; `haveLeft`: its bookmarks are no longer in the list. */
  onDone: (haveLeft?: boolean) => void;
  onAsk: (asks: Asks) => void;
}

/** What can be done with the selected bookmarks. */
export function BulkBar({ chosen, all, total, isArchive, onAll, onDone, onAsk }: BulkBarProps) {
  const [action, setAction] = useState<BulkAction>();
  const count = all && total !== undefined ? total : chosen.length;
  const act = (now: BulkAction, one: () => Promise<void>) => {
    if (all) setAction(now);
    else void one().then(() => onDone(now.do !== "crawl"));
  };
  const archiving = isArchive ? "unarchive" : "archive";
  return (
    <section className={css.bulk} aria-label="Selection">
      <strong className="nowrap">{exact(count)} selected</strong>
      {!all && total !== undefined && total > chosen.length && (
        <Button look="plain" onClick={onAll}>
          Select all {exact(total)} that match
        </Button>
      )}
      <span className="grow" />
      {!all && (
        <>
          <Button shortcut="t" onClick={() => onAsk("tags")}>
            <Tag /> <span className={css.word}>Tags</span>
          </Button>
          <Button onClick={() => onAsk("category")}>
            <Folder /> <span className={css.word}>Category</span>
          </Button>
        </>
      )}
      <Button shortcut="e" onClick={() => act({ do: archiving }, () => move(chosen, archiving))}>
        <Archive /> <span className={css.word}>{isArchive ? "Out of the archive" : "Archive"}</span>
      </Button>
      <Button shortcut="r" onClick={() => act({ do: "crawl" }, () => crawlAgain(chosen))}>
        <RefreshCw /> <span className={css.word}>Read again</span>
      </Button>
      <Button look="danger" shortcut="#" onClick={() => act({ do: "delete" }, () => move(chosen, "delete"))}>
        <Trash2 /> <span className={css.word}>Trash</span>
      </Button>
      <Button look="plain" icon aria-label="Clear the selection" onClick={() => onDone()}>
        <X />
      </Button>
      {action && all && (
        <AllDialog
          action={action}
          filter={all}
          count={count}
          onClose={() => setAction(undefined)}
          onDone={() => {
            setAction(undefined);
            onDone(action.do !== "crawl");
          }}
        />
      )}
    </section>
  );
}

const WORDS: Partial<Record<BulkAction["do"], [title: string, button: string]>> = {
  archive: ["Archive all that match?", "Archive"],
  unarchive: ["Move all that match out of the archive?", "Move"],
  crawl: ["Read all that match again?", "Read"],
  delete: ["Move all that match to the trash?", "Trash"],
};

interface AllDialogProps {
  action: BulkAction;
  filter: Schema<"BulkFilter">;
  count: number;
  onClose: () => void;
  onDone: () => void;
}

function AllDialog({ action, filter, count, onClose, onDone }: AllDialogProps) {
  const run = useMutation({ mutationFn: () => changeAll({ filter }, action), onSuccess: onDone });
  const [title, verb] = WORDS[action.do] ?? ["Change all that match?", "Change"];
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep them as they are</Button>
          <Button
            look={action.do === "delete" ? "danger" : "primary"}
            busy={run.isPending}
            onClick={() => run.mutate()}
          >
            {verb} {plural(count, "bookmark")}
          </Button>
        </>
      }
    >
      <p>These are also bookmarks that are not loaded here. There is no single step that takes it back.</p>
      {run.error && <p role="alert">{run.error.message}</p>}
    </Dialog>
  );
}

/** The dialogs of a selection, also when it was made by a key. */
export function AskDialog({ asks, chosen, onClose }: { asks: Asks; chosen: Bookmark[]; onClose: () => void }) {
  if (asks === "tags") {
    return (
      <TagDialog
        bookmarks={chosen}
        onClose={onClose}
        onSave={(added, removed) => {
          onClose();
          void changeTags(chosen, added, removed);
        }}
      />
    );
  }
  if (asks === "category") {
    return (
      <CategoryDialog
        bookmarks={chosen}
        onClose={onClose}
        onSave={(category) => {
          onClose();
          void moveToCategory(chosen, category);
        }}
      />
    );
  }
  return null;
}
