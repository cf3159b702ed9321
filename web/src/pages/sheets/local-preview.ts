import { queryOptions } from "@tanstack/react-query";
import type { Preview, ReadOptions } from "~/api/sheets";
import { scriptUrl } from "~/shell/script-url";
import workerUrl from "./csv-worker?worker&url";

/** Whether the browser itself can look into the file: workbooks and pictures are read by the server. */
export function isText(file: File): boolean {
  return /\.(csv|tsv|txt)$/i.test(file.name) || file.type === "text/csv";
}

/** The first rows of a file that is still being uploaded. */
export function localPreviewQuery(file: File, options: ReadOptions) {
  return queryOptions({
    queryKey: ["local-preview", file.name, file.size, file.lastModified, options],
    queryFn: ({ signal }) => read(file, options, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

function read(file: File, options: ReadOptions, signal: AbortSignal): Promise<Preview> {
  const worker = new Worker(scriptUrl(workerUrl), { type: "module" });
  return new Promise<Preview>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("It was given up.")));
    worker.onerror = () => reject(new Error("The browser cannot look into this file."));
    worker.onmessage = ({ data }: MessageEvent<{ preview?: Preview; problem?: string }>) =>
      data.preview ? resolve(data.preview) : reject(new Error(data.problem));
    worker.postMessage({ file, options });
  }).finally(() => worker.terminate());
}
