import { Link } from "@tanstack/react-router";
import type { Saved } from "~/api/home";
import type { Job } from "~/api/jobs";
import { Marks, titleOf } from "~/bookmarks/marks";
import { Picture } from "~/bookmarks/picture";
import { host } from "~/format";
import { Pill } from "~/ui/pill";
import { Section } from "~/ui/section";
import css from "./home.module.css";

const SHOWN = 8;

/** Links that are being read, as cards that fill in step by step. */
export function SavedCards({ saved, open }: { saved: Saved[]; open: Job[] }) {
  const openIds = new Set(open.map((job) => job.id));
  const shown = saved.filter((each) => each.jobId !== null && openIds.has(each.jobId));
  if (shown.length === 0) return null;
  const more = open.length - Math.min(shown.length, SHOWN);
  return (
    <Section title="Being read" beside={more > 0 && <Link to="/bookmarks">and {more} more</Link>}>
      <div className={css.cards}>
        {shown.slice(0, SHOWN).map((each) => (
          <SavedCard key={each.id} saved={each} />
        ))}
      </div>
    </Section>
  );
}

function SavedCard({ saved }: { saved: Saved }) {
  return (
    <Link to="/bookmarks/$id" params={{ id: saved.id }} className={css.card}>
      <Picture bookmark={saved} />
      <span className={css.text}>
        <span className={css.title}>{titleOf(saved)}</span>
        <span className={css.meta}>
          <span className="cut">{host(saved.url)}</span>
          <Marks bookmark={saved} />
          {saved.status !== "PENDING" && saved.status !== "PROCESSING" && <Pill status={saved.status} small />}
        </span>
      </span>
    </Link>
  );
}
