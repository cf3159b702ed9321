import { useNavigate, useSearch } from "@tanstack/react-router";

/** An item of a list. */
export interface ItemPlace {
  jobId: string;
  id: string;
}

/** The item whose panel is open beside the list; it is in the URL, as `item=JOB-NUMBER`. */
export function useOpenItem() {
  const { item } = useSearch({ strict: false });
  const navigate = useNavigate();
  const [jobId, id] = item?.split("-") ?? [];
  const show = (place: ItemPlace | undefined) =>
    void navigate({ to: ".", search: (now) => ({ ...now, item: place && itemSearch(place) }), replace: Boolean(item) });
  return { place: jobId && id ? { jobId, id } : undefined, show };
}

export function itemSearch({ jobId, id }: ItemPlace): string {
  return `${jobId}-${id}`;
}
