import type { ComponentType } from "react";
import type { Job } from "~/api/jobs";
import { Store } from "~/shell/store";

/** What a package adds to the page of a job. Its folder of pages exports this in routes.ts. */
export interface JobParts {
  pipelines: readonly string[];
  tabs: JobTab[];
  /** The package's own page of a job. */
  page: { label: string; to: (jobId: string) => string };
}

export interface JobTab {
  key: string;
  label: string;
  /** The tab that it is most like, which it follows. */
  after: "overview" | "timeline";
  isWide?: boolean;
  Content: ComponentType<{ job: Job }>;
}

export const jobParts = new Store<JobParts[]>([]);

export function partsOf(job: Job): JobParts | undefined {
  return jobParts.get().find(({ pipelines }) => pipelines.includes(job.pipeline));
}
