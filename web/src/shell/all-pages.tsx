import { Dialog } from "~/ui/dialog";
import css from "./frame.module.css";
import { LiveLine } from "./live-line";
import type { RailEntry } from "./rail";
import { RailLink } from "./rail-link";

/** What the bottom bar of a phone has no place for. */
export function AllPages({ entries, onClose }: { entries: RailEntry[]; onClose: () => void }) {
  return (
    <Dialog title="All pages" onClose={onClose}>
      <div className={css.more}>
        {entries.map((entry) => (
          <RailLink key={entry.to} entry={entry} className={css.link!} onClick={onClose} />
        ))}
      </div>
      <LiveLine />
    </Dialog>
  );
}
