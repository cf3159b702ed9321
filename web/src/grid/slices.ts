import type { Slice } from "~/api/grid";
import { exact } from "~/format";
import { countWords } from "~/ui/bar";

/** The worst comes first: it gives a slice its colour. */
const WORST = ["error", "notFound", "processing", "pending", "skipped", "done"] as const;

export function worstOf(slice: Slice): (typeof WORST)[number] {
  return WORST.find((status) => slice[status] > 0) ?? "pending";
}

/** Slices of one colour that follow each other, as one. */
export function runs(slices: Slice[]): { from: number; to: number; worst: string }[] {
  const found: { from: number; to: number; worst: string }[] = [];
  for (const slice of slices) {
    const worst = worstOf(slice);
    const last = found.at(-1);
    if (last?.worst === worst) last.to = slice.to;
    else found.push({ from: slice.from, to: slice.to, worst });
  }
  return found;
}

export function sliceWords(slice: Slice): string {
  const { done, notFound, skipped, error, processing, pending } = slice;
  const about = slice.exact ? "" : "about ";
  return `Rows ${exact(slice.from)} to ${exact(slice.to)}: ${about}${countWords({ done, notFound, skipped, error, processing, pending })}`;
}
