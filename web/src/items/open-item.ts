import { useSearch } from "@tanstack/react-router";
import { useOpened } from "~/shell/opened";

/** An item of a list. */
export interface ItemPlace {
  jobId: string;
  id: string;
}

/** The item whose panel is open beside the list; it is in the URL, as `item=JOB-NUMBER`. */
export function useOpenItem() {
  const { item } = useSearch({ strict: false });
  const opened = useOpened();
  const [jobId, id] = item?.split("-") ?? [];
  const show = (place: ItemPlace | undefined) =>
    place ? opened.open({ item: itemSearch(place) }, item !== undefined) : opened.close({ item: undefined });
  return { place: jobId && id ? { jobId, id } : undefined, show };
}

export function itemSearch({ jobId, id }: ItemPlace): string {
  return `${jobId}-${id}`;
}
