import { Link } from "@tanstack/react-router";
import { Bookmark, ListChecks } from "lucide-react";
import { usePipeline } from "~/api/app";
import type { Saved } from "~/api/home";
import { countsOf, type Job } from "~/api/jobs";
import { titleOf } from "~/bookmarks/marks";
import { host } from "~/format";
import { countWords } from "~/ui/bar";
import { List } from "~/ui/list";
import { Pill } from "~/ui/pill";
import { Section } from "~/ui/section";
import { Time } from "~/ui/time";
import { day } from "./group";
import css from "./home.module.css";

const SHOWN = 30;

type Thing = { at: string; job: Job; saved?: undefined } | { at: string; saved: Saved; job?: undefined };

/** The last things, whatever they are, by day. */
export function Recent({ jobs, saved }: { jobs: Job[]; saved: Saved[] }) {
  const things: Thing[] = [
    ...jobs.map((job): Thing => ({ at: job.finishedAt ?? job.updatedAt, job })),
    ...saved.map((each): Thing => ({ at: each.createdAt, saved: each })),
  ];
  things.sort((a, b) => (a.at < b.at ? 1 : -1));
  if (things.length === 0) return null;
  const now = new Date();
  const days = Map.groupBy(things.slice(0, SHOWN), (thing) => day(thing.at, now));
  return (
    <Section title="Recent">
      <div className={css.days}>
        {[...days].map(([name, own]) => (
          <div key={name}>
            <h3 className={css.day}>{name}</h3>
            <List label={name}>
              {own.map((thing) => (
                <li key={thing.job ? `job ${thing.job.id}` : `saved ${thing.saved.id}`}>
                  {thing.job ? <JobThing job={thing.job} /> : <SavedThing saved={thing.saved} />}
                </li>
              ))}
            </List>
          </div>
        ))}
      </div>
    </Section>
  );
}

function JobThing({ job }: { job: Job }) {
  const { title, noun } = usePipeline(job.pipeline);
  const { total } = job.counters;
  return (
    <Link to="/jobs/$jobId" params={{ jobId: job.id }} className={css.thing}>
      <ListChecks aria-hidden="true" />
      <span className={css.what}>
        <span className="cut">{job.subject?.title ?? job.file ?? title}</span>
        <span className={`${css.side} cut`}>{total === 1 ? `1 ${noun}` : countWords(countsOf(job))}</span>
      </span>
      <Pill status={job.state} />
      <span className={css.side}>
        <Time value={job.finishedAt ?? job.updatedAt} />
      </span>
    </Link>
  );
}

function SavedThing({ saved }: { saved: Saved }) {
  return (
    <Link to="/bookmarks/$id" params={{ id: saved.id }} className={css.thing}>
      {saved.files.favicon ? <img src={saved.files.favicon.url} alt="" /> : <Bookmark aria-hidden="true" />}
      <span className={css.what}>
        <span className="cut">{titleOf(saved)}</span>
        <span className={`${css.side} cut`}>{host(saved.url)}</span>
      </span>
      <Pill status={saved.status} />
      <span className={css.side}>
        <Time value={saved.createdAt} />
      </span>
    </Link>
  );
}
