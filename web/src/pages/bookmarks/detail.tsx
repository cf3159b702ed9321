import { Archive, ArchiveRestore, ExternalLink, RefreshCw, Tag, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { WholeBookmark } from "~/api/bookmarks";
import { Marks } from "~/bookmarks/marks";
import { useCommands } from "~/shell/commands";
import { Button, buttonClass } from "~/ui/button";
import { Notice } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { Tabs } from "~/ui/tabs";
import { sentence } from "~/words";
import { crawlAgain, move, undo } from "./actions";
import { AskDialog, type Asks } from "./ask-dialog";
import css from "./bookmarks.module.css";
import { BookmarkFacts } from "./facts";
import { useFollowed } from "./follow";
import { History } from "./history";
import { Pictures } from "./pictures";
import { Read } from "./read";
import { Steps } from "./steps";

const TABS = [
  { key: "read", label: "Read" },
  { key: "picture", label: "Picture" },
  { key: "facts", label: "Facts" },
  { key: "history", label: "History" },
  { key: "steps", label: "Steps" },
] as const;
export type TabName = (typeof TABS)[number]["key"];

interface DetailProps {
  bookmark: WholeBookmark;
  tab: TabName | undefined;
  onTab: (tab: TabName) => void;
  /** It has left the list: archived, or in the trash. */
  onGone: () => void;
  more?: ReactNode;
  /** The list beside it has the keys already. */
  besideList?: boolean;
}

/** Everything about a bookmark: in the panel, and on its own page. */
export function Detail({ bookmark, tab = "read", onTab, onGone, more, besideList }: DetailProps) {
  const [asks, setAsks] = useState<Asks>();
  useFollowed([bookmark]);
  const isArchived = bookmark.archivedAt !== null;
  const isOpen = bookmark.status === "PENDING" || bookmark.status === "PROCESSING";
  const again = () => void crawlAgain([bookmark]);
  const archive = () => void move([bookmark], isArchived ? "unarchive" : "archive");
  const trash = () => void move([bookmark], "delete").then(onGone);
  useCommands([
    ...TABS.map(({ key, label }, index) => ({
      id: `bookmark-tab-${key}`,
      title: label,
      group: "Bookmark",
      keys: String(index + 1),
      run: () => onTab(key),
      hidden: true,
    })),
    ...(besideList
      ? []
      : [
          { id: "bookmark-tags", title: "Tags", group: "Bookmark", keys: "t", run: () => setAsks("tags") },
          { id: "bookmark-trash", title: "Move to the trash", group: "Bookmark", keys: "#", run: trash },
          {
            id: "bookmark-archive",
            title: isArchived ? "Out of the archive" : "Archive",
            group: "Bookmark",
            keys: "e",
            run: archive,
          },
          { id: "bookmark-again", title: "Read again", group: "Bookmark", keys: "r", run: again },
          { id: "bookmark-undo", title: "Undo", group: "Bookmark", keys: "u", run: undo, hidden: true },
          {
            id: "bookmark-original",
            title: "Open the original",
            group: "Bookmark",
            keys: "o",
            run: () => void globalThis.open(bookmark.url, "_blank", "noopener"),
          },
        ]),
  ]);
  return (
    <div className="stack">
      <div className={css.tools}>
        <a href={bookmark.url} target="_blank" rel="noreferrer" className={buttonClass()} title="Open the original (o)">
          <ExternalLink /> <span>Original</span>
        </a>
        <Button shortcut="t" onClick={() => setAsks("tags")}>
          <Tag /> <span>Tags</span>
        </Button>
        <Button icon aria-label={isArchived ? "Out of the archive" : "Archive"} shortcut="e" onClick={archive}>
          {isArchived ? <ArchiveRestore /> : <Archive />}
          <span className={css.below}>{isArchived ? "Out of the archive" : "Archive"}</span>
        </Button>
        <Button icon aria-label="Read again" shortcut="r" onClick={again}>
          <RefreshCw />
          <span className={css.below}>Read again</span>
        </Button>
        <Button icon aria-label="Move to the trash" shortcut="#" onClick={trash}>
          <Trash2 />
          <span className={css.below}>Trash</span>
        </Button>
        <span className="grow" />
        {more}
      </div>
      <div className="row">
        <Pill status={bookmark.status} />
        <Marks bookmark={bookmark} />
        {bookmark.tags.map((tag) => (
          <span key={tag} className={css.tag}>
            {tag}
          </span>
        ))}
      </div>
      <NotReached bookmark={bookmark} />
      <Tabs label="Parts of the bookmark" tabs={[...TABS]} value={tab} onChange={onTab}>
        {tab === "read" && <Read bookmark={bookmark} isOpen={isOpen} />}
        {tab === "picture" && <Pictures bookmark={bookmark} />}
        {tab === "facts" && <BookmarkFacts bookmark={bookmark} />}
        {tab === "history" && <History bookmark={bookmark} />}
        {tab === "steps" && <Steps bookmark={bookmark} isOpen={isOpen} />}
      </Tabs>
      <AskDialog asks={asks} chosen={[bookmark]} onClose={() => setAsks(undefined)} />
    </div>
  );
}

const NOT_REACHED = {
  login: "This page is behind a login.",
  captcha: "This page asks whether you are a person.",
  error: "The site answered with an error page.",
} as const;

/** The page was not reached: what is here is not it. */
function NotReached({ bookmark }: { bookmark: WholeBookmark }) {
  const { kind } = bookmark;
  if (kind !== "login" && kind !== "captcha" && kind !== "error") return null;
  return (
    <Notice
      kind="warn"
      title={NOT_REACHED[kind]}
      actions={
        kind !== "error" && (
          <a href="/save" className={buttonClass()}>
            Save from your browser
          </a>
        )
      }
    >
      {bookmark.kindReason && sentence(bookmark.kindReason)}{" "}
      {kind !== "error" &&
        "Its address is saved. To keep its text, open it in your browser, select the text, and use the bookmarklet."}
    </Notice>
  );
}
