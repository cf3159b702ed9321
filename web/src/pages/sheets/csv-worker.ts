import type { ReadOptions } from "~/api/sheets";
import { preview } from "./csv";

const MOST = 1 << 20; // bytes of the beginning of the file

/** Reads the beginning of a file outside of the page's thread. */
addEventListener("message", ({ data: { file, options } }: MessageEvent<{ file: File; options: ReadOptions }>) => {
  file
    .slice(0, MOST)
    .arrayBuffer()
    .then((data) => postMessage({ preview: preview(new Uint8Array(data), file.size > MOST, options) }))
    .catch((error: unknown) => postMessage({ problem: String(error) }));
});
