export interface Followable {
  jobId: string;
  isOpen: boolean;
  isRunning: boolean;
}

/** The jobs whose items are followed, of a list that begins with the newest. What runs counts first, then what waits
 * longest, which runs next. Jobs that have ended stay until their place is needed: each change of topics opens the
 * stream again. */
export function followed(before: readonly string[], listed: readonly Followable[], most: number): readonly string[] {
  const open = listed.filter((each) => each.isOpen);
  const isNew = ({ jobId }: Followable) => !before.includes(jobId);
  const isMissed = open.some((each) => each.isRunning && isNew(each));
  const hasPlace = before.length < most && open.some(isNew);
  if (!isMissed && !hasPlace) return before;
  const waiting = open.filter((each) => !each.isRunning).reverse();
  return [...open.filter((each) => each.isRunning), ...waiting].slice(0, most).map(({ jobId }) => jobId);
}
