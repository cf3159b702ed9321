import { Archive, Folder, RefreshCw, Tag, Trash2, X } from "lucide-react";
import { useState } from "react";
import type { Bookmark } from "~/api/bookmarks";
import type { Schema } from "~/api/client";
import { exact } from "~/format";
import { Button } from "~/ui/button";
import { type Act, changeChosen } from "./actions";
import { AllDialog } from "./all-dialog";
import { AskDialog, type Asks } from "./ask-dialog";
import css from "./bookmarks.module.css";
import { useBookmarkKeys } from "./keys";

interface BulkProps {
  /** The selected ones, or the one that the keys are at, or that is open. */
  chosen: Bookmark[];
  isSelecting: boolean;
  /** All that match are meant, and this is their filter. */
  all: Schema<"BulkFilter"> | undefined;
  /** How many match; undefined: not counted exactly. */
  total: number | undefined;
  isArchive: boolean;
  onAll: () => void;
  /** Select what is loaded, or nothing. */
  onToggle: () => void;
  /** The selection ends; `haveLeft`: its bookmarks are no longer in the list. */
  onDone: (haveLeft?: boolean) => void;
  /** Open the steps of a bookmark, which say why it waits. */
  onWhy: (id: string) => void;
}

/** What can be done with the selected bookmarks, by keys and by the bar. */
export function Bulk({ chosen, isSelecting, all, total, isArchive, onAll, onToggle, onDone, onWhy }: BulkProps) {
  const [asks, setAsks] = useState<Asks>();
  const [confirms, setConfirms] = useState<Act>();
  const count = all && total !== undefined ? total : chosen.length;
  const act = (does: Act) => {
    if (chosen.length === 0) return;
    if (all) setConfirms(does);
    else void changeChosen(chosen, does).then(() => onDone(does !== "crawl"));
  };
  const ask = (what: Asks) => chosen.length > 0 && setAsks(what);
  const archiving = isArchive ? "unarchive" : "archive";
  const why = () => chosen[0] && onWhy(chosen[0].id);
  useBookmarkKeys({ chosen, archiving, onAct: act, onTags: () => ask("tags"), onToggle, onWhy: why });
  return (
    <>
      {isSelecting && (
        <section className={css.bulk} aria-label="Selection">
          <Button look="plain" icon aria-label="Clear the selection" onClick={() => onDone()}>
            <X />
          </Button>
          <strong className="nowrap">{exact(count)} selected</strong>
          {!all && total !== undefined && total > chosen.length && (
            <Button look="plain" onClick={onAll}>
              <span>
                Select all {exact(total)} <span className={css.onlyWide}>that match</span>
              </span>
            </Button>
          )}
          <div className={css.does}>
            <Button shortcut="t" onClick={() => ask("tags")}>
              <Tag /> <span>Tags</span>
            </Button>
            <Button onClick={() => ask("category")}>
              <Folder /> <span>Category</span>
            </Button>
            <Button shortcut="e" onClick={() => act(archiving)}>
              <Archive /> <span>{isArchive ? "Out of the archive" : "Archive"}</span>
            </Button>
            <Button shortcut="r" onClick={() => act("crawl")}>
              <RefreshCw /> <span>Read again</span>
            </Button>
            <Button look="danger" shortcut="#" onClick={() => act("delete")}>
              <Trash2 /> <span>Trash</span>
            </Button>
          </div>
        </section>
      )}
      {confirms && all && (
        <AllDialog
          does={confirms}
          filter={all}
          count={count}
          onClose={() => setConfirms(undefined)}
          onDone={() => {
            setConfirms(undefined);
            onDone(confirms !== "crawl");
          }}
        />
      )}
      <AskDialog asks={asks} chosen={chosen} all={all} count={count} onClose={() => setAsks(undefined)} />
    </>
  );
}
