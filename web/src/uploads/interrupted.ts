import { bytes } from "~/format";
import { putActivity } from "~/shell/tray";
import { begun } from "./memory";

/** Uploads that a reload has interrupted, in the tray: they go on when their file is chosen again. */
export function showInterrupted(): void {
  for (const { id, jobId, name, size, sent } of begun()) {
    putActivity({
      id: `upload-${id}`,
      title: name,
      detail: `Stopped at ${bytes(sent)} of ${bytes(size)}: choose the file again to go on.`,
      href: `/sheets/new?job=${jobId}`,
      isOver: true,
    });
  }
}
