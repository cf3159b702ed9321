import { Link } from "@tanstack/react-router";
import type { Saved } from "~/api/home";
import type { Job } from "~/api/jobs";
import { host } from "~/format";
import { classes } from "~/ui/classes";
import { Pill } from "~/ui/pill";
import { Shape } from "~/ui/shape";
import css from "./home.module.css";

const SHOWN = 8;

/** Links that are being read, as cards that fill in step by step. */
export function SavedCards({ saved, open }: { saved: Saved[]; open: Job[] }) {
  const openIds = new Set(open.map((job) => job.id));
  const shown = saved.filter((each) => each.jobId !== null && openIds.has(each.jobId));
  if (shown.length === 0) return null;
  const more = open.length - Math.min(shown.length, SHOWN);
  return (
    <section className={css.section} aria-labelledby="reading">
      <div className={css.head}>
        <h2 id="reading">Being read</h2>
        {more > 0 && <Link to="/bookmarks">and {more} more</Link>}
      </div>
      <div className={css.cards}>
        {shown.slice(0, SHOWN).map((each) => (
          <SavedCard key={each.id} saved={each} />
        ))}
      </div>
    </section>
  );
}

function SavedCard({ saved }: { saved: Saved }) {
  const picture = saved.files.image ?? saved.files.screenshot;
  const name = saved.title ?? host(saved.url);
  return (
    <Link to="/bookmarks/$id" params={{ id: saved.id }} className={css.card}>
      <span className={css.picture}>
        <span className={css.initial} aria-hidden="true">
          {host(saved.url)[0]}
        </span>
        {picture && <img src={picture.url} alt="" loading="lazy" />}
      </span>
      <span className={css.text}>
        <span className={css.title}>{name}</span>
        <span className={css.meta}>
          <span className="cut">{host(saved.url)}</span>
          <Marks saved={saved} />
          {saved.status !== "PENDING" && saved.status !== "PROCESSING" && <Pill status={saved.status} small />}
        </span>
      </span>
    </Link>
  );
}

/** Which parts are there already. */
function Marks({ saved }: { saved: Saved }) {
  const parts = {
    Screenshot: Boolean(saved.files.screenshot),
    "Title and text": saved.crawledAt !== null,
    Picture: Boolean(saved.files.image),
  };
  const words = Object.entries(parts).map(([name, made]) => `${name}: ${made ? "there" : "not yet"}`);
  return (
    <span className={css.marks} title={words.join(", ")} role="img" aria-label={words.join(", ")}>
      {Object.entries(parts).map(([name, made]) => (
        <Shape key={name} name={made ? "check" : "ring"} size={12} className={classes(css.mark, made && css.made)} />
      ))}
    </span>
  );
}
