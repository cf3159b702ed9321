import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { queryClient } from "~/api/client";
import type { GridFilter } from "~/api/grid";
import { reprocess } from "~/api/items";
import type { Job } from "~/api/jobs";
import { useCommands } from "~/shell/commands";
import { Said } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Check } from "~/ui/field";
import { plural } from "~/words";
import { ExportButton } from "./exports";
import { ProviderFirst } from "./provider-first";
import css from "./sheets.module.css";
import type { Selection } from "./use-selection";

const ENDED = ["DONE", "SKIPPED", "NOT_FOUND", "ERROR"] as const;
type Ended = (typeof ENDED)[number];
const MOST_ITEMS = 10_000;
const MOST_CHARACTERS = 20_000; // of the numbers of rows of an export

interface SelectionBarProps {
  job: Job;
  selection: Selection;
  filter: GridFilter;
  isFiltered: boolean;
  copied: () => string;
}

/** What can be done with the selected rows. */
export function SelectionBar({ job, selection, filter, isFiltered, copied }: SelectionBarProps) {
  const [asks, setAsks] = useState(false);
  const { ids, isAll } = selection;
  const isSome = ids.size > 0 || isAll;
  useCommands(
    isSome
      ? [{ id: "grid-again", title: "Ask again for the rows", group: "Grid", keys: "r", run: () => setAsks(true) }]
      : [],
  );
  if (!isSome) return null;
  const numbers = rangesOf(ids);
  const isTooMany = numbers.length > MOST_CHARACTERS;
  const cannot = isAll && filter.q ? "rows found by their text" : isTooMany ? "so many separate rows" : undefined;
  const choice = isAll ? (filter.statuses ? { statuses: filter.statuses.join(",") } : {}) : { rows: numbers };
  const copy = () => {
    const done = copyText(copied());
    const count = selection.rows().length;
    toast(done ? `${plural(count, "row")} copied.` : "The browser does not allow to copy: press Ctrl+C in the grid.");
  };
  return (
    <div className={css.selection} role="region" aria-label="Selected rows">
      <strong>
        {isAll ? (isFiltered ? "All rows that match" : plural(job.counters.total, "row")) : plural(ids.size, "row")}
      </strong>
      <Button shortcut="r" onClick={() => setAsks(true)} disabled={isAll && Boolean(filter.q)}>
        Ask again
      </Button>
      {!isAll && <Button onClick={copy}>Copy</Button>}
      <ExportButton jobId={job.id} choice={choice} cannot={cannot} />
      <Button look="plain" onClick={selection.clear}>
        Clear
      </Button>
      {asks && <AgainDialog job={job} selection={selection} filter={filter} onClose={() => setAsks(false)} />}
    </div>
  );
}

/** The numbers of rows, as an export takes them: "3,7-9". */
export function rangesOf(ids: ReadonlySet<string>): string {
  const ranges: [number, number][] = [];
  for (const number of [...ids].map(Number).sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(",");
}

/** Without the clipboard API, which plain HTTP does not have. */
function copyText(text: string): boolean {
  const put = (event: ClipboardEvent) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    event.clipboardData?.setData("text/plain", text);
  };
  document.addEventListener("copy", put, { capture: true, once: true });
  const done = document.execCommand("copy");
  document.removeEventListener("copy", put, { capture: true });
  return done;
}

interface AgainProps {
  job: Job;
  selection: Selection;
  filter: GridFilter;
  onClose: () => void;
}

function AgainDialog({ job, selection, filter, onClose }: AgainProps) {
  const [providers, setProviders] = useState<string[]>([]);
  const [restart, setRestart] = useState(false);
  const { isAll, ids } = selection;
  const statuses = filter.statuses
    ? ENDED.filter((each): each is Ended => filter.statuses!.includes(each))
    : [...ENDED];
  const isTooMany = ids.size > MOST_ITEMS;
  const run = useMutation({
    mutationFn: () =>
      reprocess(job.id, {
        ...(isAll ? { scope: "job" } : { scope: "items", itemIds: [...ids] }),
        statuses,
        restart,
        ...(providers.length > 0 && { providers }),
      }),
    onSuccess: ({ items }) => {
      onClose();
      selection.clear();
      toast(`${plural(items, "row")} ${items === 1 ? "is" : "are"} looked up again.`);
      for (const noun of ["job", "jobs", "ribbon", "item"]) void queryClient.invalidateQueries({ queryKey: [noun] });
    },
  });
  return (
    <Dialog
      title="Ask again"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            look="primary"
            busy={run.isPending}
            disabled={isTooMany || statuses.length === 0}
            onClick={() => run.mutate()}
          >
            {isAll ? "Ask again for all that match" : `Ask again for ${plural(ids.size, "row")}`}
          </Button>
        </>
      }
    >
      <p>Rows that have ended are looked up again. What was found before stays until there is a new answer.</p>
      <ProviderFirst value={providers} onChange={setProviders} />
      <Check
        label="Start over: also read the cells anew, with the present columns"
        checked={restart}
        onChange={(event) => setRestart(event.currentTarget.checked)}
      />
      {isTooMany && <p role="alert">At most {plural(MOST_ITEMS, "row")} can be chosen one by one: filter instead.</p>}
      {statuses.length === 0 && <p role="alert">Rows with this status have not ended.</p>}
      <Said error={run.error} />
    </Dialog>
  );
}
