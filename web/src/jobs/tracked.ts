import { useEffect } from "react";
import { queryClient } from "~/api/client";
import { isOpen, type Job, jobQuery } from "~/api/jobs";
import { exact } from "~/format";
import { useTopics } from "~/live";
import { onLive } from "~/live/apply";
import { Store, useStore } from "~/shell/store";
import { type Activity, dropActivity, putActivity } from "~/shell/tray";
import { plural } from "~/words";

/** A job that was started here: an import, an export, a second run. It is in the tray, wherever one goes, until it ends. */
export interface TrackedJob {
  jobId: string;
  title: string;
  href: string;
  noun: string;
  /** Said when it has ended well; it then stays until it is removed. Without, it leaves by itself. */
  done?: string;
}

const KEY = "forebay.tracked"; // in this tab, also after a reload
const tracked = new Store<TrackedJob[]>(stored());

function stored(): TrackedJob[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as TrackedJob[];
  } catch {
    return [];
  }
}

function change(jobs: TrackedJob[]): void {
  tracked.set(jobs);
  sessionStorage.setItem(KEY, JSON.stringify(jobs));
}

export function trackJob(one: TrackedJob): void {
  change([...tracked.get().filter(({ jobId }) => jobId !== one.jobId), one]);
  putActivity({ id: nameOf(one), title: one.title, href: one.href, onRemove: () => untrack(one.jobId) });
  void look(one);
}

function untrack(id: string): void {
  change(tracked.get().filter(({ jobId }) => jobId !== id));
}

const nameOf = ({ jobId }: TrackedJob) => `job-${jobId}`;

async function look(one: TrackedJob): Promise<void> {
  try {
    show(await queryClient.fetchQuery({ ...jobQuery(one.jobId), staleTime: 0 }));
  } catch {
    drop([one.jobId]); // it was deleted, or is somebody else's: there is nothing to follow
  }
}

function drop(ids: string[]): void {
  for (const one of tracked.get().filter(({ jobId }) => ids.includes(jobId))) {
    untrack(one.jobId);
    dropActivity(nameOf(one));
  }
}

function show(job: Job): void {
  const one = tracked.get().find(({ jobId }) => jobId === job.id);
  if (!one) return;
  putActivity(activityOf(one, job));
  if (!isOpen(job)) untrack(job.id);
}

export function activityOf(one: TrackedJob, job: Pick<Job, "state" | "sealed" | "counters">): Activity {
  const { total, pending, error } = job.counters;
  const activity = { id: nameOf(one), title: one.title, href: one.href, onRemove: () => untrack(one.jobId) };
  if (isOpen(job)) {
    const isKnown = job.sealed && total > 0;
    return {
      ...activity,
      detail: `${exact(total - pending)} of ${plural(total, one.noun)}${job.state === "PAUSED" ? ", paused" : ""}`,
      ...(isKnown && { fraction: (total - pending) / total }),
    };
  }
  if (error > 0) return { ...activity, isOver: true, detail: `${plural(error, one.noun)} failed.` };
  if (job.state !== "DONE") return { ...activity, isOver: true, detail: "It was cancelled." };
  return { ...activity, isOver: true, isDone: !one.done, detail: one.done ?? `${plural(total, one.noun)} done.` };
}

onLive("job", (_client, jobs: Job[]) => jobs.forEach(show));
onLive("gone", (_client, gone: { id: string }[]) => drop(gone.map(({ id }) => id)));

/** Follow the jobs of the tray; after a reload, those from before. */
export function useTrackedJobs(): void {
  const jobs = useStore(tracked);
  useTopics(...(jobs.length > 0 ? ["jobs"] : []));
  useEffect(() => {
    for (const one of tracked.get()) trackJob(one);
  }, []);
}
