import { exact, short } from "~/format";

/** A count: above 9,999 in short, exact on hover. */
export function Amount({ value }: { value: number }) {
  const shown = short(value);
  const full = exact(value);
  return shown === full ? <>{full}</> : <span title={full}>{shown}</span>;
}
