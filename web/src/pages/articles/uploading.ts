import { refreshArticles } from "~/api/articles";
import { queryClient } from "~/api/client";
import { ProblemError } from "~/api/problem";
import { bytes } from "~/format";
import { trackJob } from "~/jobs/tracked";
import { dropActivity, putActivity } from "~/shell/tray";
import * as tus from "~/uploads/tus";

const PATH = "/api/article-files/uploads";
const PART = 8 << 20;
const TRIES = 5;
const PAUSE_MS = 1000;

export interface ImportOptions {
  skipEmbedding: boolean;
  embeddingPriority: "high" | "normal" | "low";
}

/** Send a file of articles, in parts that are sent again from where they broke off, and follow its job in the tray. */
export async function importArticles(
  file: File,
  options: ImportOptions,
  onSent: (sent: number) => void,
): Promise<string> {
  const { id, jobId } = await tus.announce(PATH, file, options);
  const activity = { id: `articles-${id}`, title: file.name, href: `/jobs/${jobId}` };
  try {
    let sent = 0;
    for (let failures = 0; sent < file.size; ) {
      putActivity({ ...activity, detail: `${bytes(sent)} of ${bytes(file.size)}`, fraction: sent / file.size });
      try {
        sent = await tus.sendPart(PATH, id, sent, file.slice(sent, sent + PART), new AbortController().signal);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (!(error instanceof ProblemError) || !(error.isPassing || error.status === 409) || failures > TRIES)
          throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * failures));
        sent = (await tus.offsetOf(PATH, id)) ?? sent;
      }
      onSent(sent);
    }
  } finally {
    dropActivity(activity.id);
  }
  trackJob({ jobId, title: `Import of ${file.name}`, href: `/jobs/${jobId}`, noun: "file" });
  refreshArticles(queryClient);
  void queryClient.invalidateQueries({ queryKey: ["jobs"] });
  return jobId;
}
