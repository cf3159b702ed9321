import { useNavigate, useSearch } from "@tanstack/react-router";
import { text, texts, whole } from "~/search";

/** What the page of a job has in its URL, also as the page of a sheet. */
export const JOB_SEARCH = {
  tab: text,
  status: texts,
  step: text,
  item: text,
  from: text,
  to: text,
  q: text,
  sort: text,
  row: whole,
};

type JobSearch = {
  [K in keyof typeof JOB_SEARCH]?: Exclude<ReturnType<(typeof JOB_SEARCH)[K]>, undefined> | undefined;
};

/** The URL of the page that shows the job. `set` changes some of it; `show` changes the tab, and drops what the other tab had. */
export function useJobSearch() {
  const search = useSearch({ strict: false }) as JobSearch;
  const navigate = useNavigate();
  return {
    search,
    set: (change: JobSearch) =>
      void navigate({ to: ".", search: (now) => ({ ...now, ...change }), replace: true, resetScroll: false }),
    show: (tab: string | undefined, more: JobSearch = {}) =>
      void navigate({ to: ".", search: { ...(tab && { tab }), ...more }, replace: true }),
  };
}
