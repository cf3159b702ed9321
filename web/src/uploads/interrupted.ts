import { bytes } from "~/format";
import { dropActivity, putActivity } from "~/shell/tray";
import { begun, forget } from "./memory";
import { offsetOf } from "./tus";
import { PATH } from "./upload";

/** Uploads that a reload has interrupted, in the tray: they go on when their file is chosen again. Those that are complete,
 * or were given up, are forgotten: the last answer may have been lost with the page. */
export async function showInterrupted(): Promise<void> {
  for (const { id, jobId, name, size, sent: known } of begun()) {
    const sent = await offsetOf(PATH, id).catch(() => known); // without an answer, as this device knows
    if (sent === undefined || sent >= size) {
      forget(id);
      continue;
    }
    putActivity({
      id: `upload-${id}`,
      title: name,
      detail: `Stopped at ${bytes(sent)} of ${bytes(size)}: choose the file again to go on.`,
      href: `/sheets/new?job=${jobId}`,
      isOver: true,
      onCancel: () => {
        forget(id);
        dropActivity(`upload-${id}`);
      },
    });
  }
}
