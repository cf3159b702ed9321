import { useInfiniteQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { type DeadLetter, type LetterGroup, lettersQuery } from "~/api/dead-letters";
import { retryLetters } from "~/api/retry-letters";
import { exactTime } from "~/format";
import { ItemLink } from "~/items/item-link";
import { OpenItem } from "~/items/item-panel";
import { useOpenItem } from "~/items/open-item";
import { useCommands } from "~/shell/commands";
import { Failed } from "~/shell/failed";
import { useHeld } from "~/shell/held";
import { useListKeys } from "~/shell/list-keys";
import { useSelection } from "~/shell/selection";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { type Column, Table } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { SelectBox } from "~/ui/select-box";
import { SelectionBar } from "~/ui/selection-bar";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { plural, runsAgain } from "~/words";
import css from "./dead-letters.module.css";
import { filterOf, type LetterSearch } from "./filter";
import { NOTHING_RUNS, noteStarted } from "./retries";

const keyOf = ({ jobId, itemId, step }: DeadLetter) => `${jobId} ${itemId} ${step}`;
const placeOf = ({ jobId, itemId }: DeadLetter) => ({ jobId, id: itemId });

interface LettersProps {
  search: LetterSearch;
  /** The group that the letters are of. */
  group: LetterGroup | undefined;
}

/** The letters of a group: one, some or all that are selected run again. */
export function Letters({ search, group }: LettersProps) {
  const query = useInfiniteQuery(lettersQuery(filterOf(search)));
  const rows = query.data?.pages.flatMap((page) => page.deadLetters) ?? [];
  const searchedTo = query.data?.pages.at(-1)?.searchedTo;
  return (
    <>
      <Loaded query={query} what="The dead letters" loading={<SkeletonRows rows={6} height={32} />}>
        {() =>
          rows.length > 0 ? (
            <LetterTable rows={rows} group={group} owner={search.owner} />
          ) : query.hasNextPage ? null : (
            <Empty title="Nothing of this kind is left">What has run again and failed again comes back here.</Empty>
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
        searched={searchedTo ? `Searched back to ${exactTime(new Date(searchedTo))}.` : undefined}
      />
      <OpenItem />
    </>
  );
}

interface LetterTableProps {
  rows: DeadLetter[];
  group: LetterGroup | undefined;
  owner: string | undefined;
}

interface Asked extends Omit<LetterTableProps, "rows"> {
  letters: DeadLetter[];
}

function LetterTable({ rows, group, owner }: LetterTableProps) {
  const { show, place } = useOpenItem();
  const selection = useSelection(rows.map(keyOf));
  const places = new Map(rows.map((row, index) => [row, index]));
  const selected = rows.filter((row) => selection.ids.has(keyOf(row)));
  const box = useRef<HTMLDivElement>(null);
  const again = useHeld({
    words: ({ letters }: Asked) => runsAgain(letters.length, "item"),
    what: NOTHING_RUNS,
    send: async ({ letters, ...asked }) => {
      noteStarted(await retryLetters(letters, asked.owner), asked.group);
      selection.drop(new Set(letters.map(keyOf)));
      if (box.current?.contains(document.activeElement))
        box.current.querySelector<HTMLElement>("[role=region]")?.focus({ preventScroll: true }); // the button goes with its row
    },
  });
  const retry = (letters: DeadLetter[]) => again.mutate({ letters, group, owner });
  const keys = useListKeys({
    group: "Dead letters",
    count: rows.length,
    onOpen: (index) => rows[index] && show(placeOf(rows[index])),
    onSelect: selection.select,
    onSelectAll: selection.toggleAll,
  });
  const chosen = selected.length > 0 ? selected : rows.slice(keys.at, keys.at + 1);
  useCommands([
    {
      id: "letters-retry",
      title: "Retry",
      group: "Dead letters",
      keys: "r",
      run: () => chosen.length > 0 && retry(chosen),
    },
  ]);
  const columns: Column<DeadLetter>[] = [
    {
      key: "select",
      title: <span className="only-heard">Select</span>,
      cell: (row) => (
        <SelectBox
          label={`Select item ${row.itemId} of job ${row.jobId}`}
          checked={selection.ids.has(keyOf(row))}
          onSelect={(isRange) => selection.select(places.get(row)!, isRange)}
        />
      ),
    },
    { key: "item", title: "Item", number: true, cell: (row) => <ItemLink place={placeOf(row)} /> },
    { key: "job", title: "Job", number: true, cell: (row) => row.jobId },
    { key: "step", title: "Step", isClear: true, cell: (row) => row.step },
    {
      key: "reason",
      title: "Reason",
      isClear: true,
      cell: (row) => <span className={css.said}>{row.reason ?? ""}</span>,
    },
    { key: "attempt", title: "Attempts", number: true, cell: (row) => row.attempt },
    { key: "at", title: "When", isClear: true, cell: (row) => <Time value={row.at} /> },
    {
      key: "actions",
      title: <span className="only-heard">Actions</span>,
      cell: (row) => (
        <span className={css.last}>
          <Button
            look="plain"
            aria-label={`Retry item ${row.itemId} of job ${row.jobId}`}
            busy={again.isPending && again.variables.letters.includes(row)}
            onClick={() => retry([row])}
          >
            Retry
          </Button>
        </span>
      ),
    },
  ];
  return (
    <div ref={box} className={css.letters}>
      <Failed of={again} what={NOTHING_RUNS} />
      <Table
        label="Dead letters"
        columns={columns}
        rows={rows}
        rowKey={keyOf}
        isSelected={(row) => selection.ids.has(keyOf(row)) || (row.jobId === place?.jobId && row.itemId === place.id)}
        rowProps={keys.rowProps}
      />
      {selected.length > 0 && (
        <SelectionBar label="Selected dead letters">
          <span className={css.chosen}>{plural(selected.length, "letter")} selected</span>
          <Button look="plain" shortcut="*" onClick={selection.toggleAll}>
            {selected.length < rows.length ? "Select all that are loaded" : "Select none"}
          </Button>
          <Button look="primary" shortcut="r" busy={again.isPending} onClick={() => retry(selected)}>
            Retry selected
          </Button>
        </SelectionBar>
      )}
    </div>
  );
}
