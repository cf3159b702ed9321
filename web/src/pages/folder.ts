import type { JobParts } from "~/jobs/parts";
import type { RailEntry } from "~/shell/rail";
import type { Things } from "~/shell/things";

/** What a folder of pages exports in its routes.ts. `all.ts` collects the folders. */
export interface Folder {
  routes: readonly unknown[];
  rail?: readonly RailEntry[];
  jobParts?: JobParts;
  things?: Things;
}
