import { memo, useRef } from "react";
import type { GridRow } from "~/api/grid";
import { exact } from "~/format";
import { classes } from "~/ui/classes";
import { Pill } from "~/ui/pill";
import { SelectBox } from "~/ui/select-box";
import { Cell } from "./cell";
import { leftOf, type ShownColumn } from "./columns";
import { useFlash } from "./flash";
import type { Place } from "./grid";
import css from "./grid.module.css";

interface RowProps {
  id: string;
  place: number;
  row: GridRow | undefined;
  columns: ShownColumn[];
  firstWidth: number;
  template: string;
  top: number;
  isNarrow: boolean;
  /** The column of the cell that has the focus, if it is in this row. */
  column: number | undefined;
  isSelected: boolean;
  onMove: (to: Place) => void;
  onOpen: (row: number) => void;
  onSelect: (row: number, isRange: boolean) => void;
}

/** A row; before it is loaded, its number and grey places for its cells. */
export const Row = memo(function Row(props: RowProps) {
  const { id, place, row, columns, firstWidth, template, top, column, isSelected, onMove, onOpen } = props;
  const element = useRef<HTMLDivElement>(null);
  useFlash(element, row, columns);
  const cellProps = (index: number) => ({
    id: `${id}-${place}-${index}`,
    "aria-colindex": index + 1,
    "data-at": column === index || undefined,
  });
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
    <div
      ref={element}
      role="row"
      aria-rowindex={place + 2}
      aria-selected={isSelected}
      data-row={place}
      data-press
      className={css.row}
      style={{ gridTemplateColumns: template, transform: `translateY(${top}px)` }}
      onClick={(event) => {
        const cell = (event.target as HTMLElement).closest<HTMLElement>("[aria-colindex]");
        if (cell) onMove({ row: place, column: Number(cell.ariaColIndex) - 1 });
        if (matchMedia("(pointer: coarse)").matches && !isControl(event.target)) onOpen(place);
      }}
      onDoubleClick={() => onOpen(place)}
    >
      <First {...props} cell={cellProps(0)} />
      {columns.map((each, index) => (
        <div
          key={each.key}
          role="gridcell"
          {...cellProps(index + 1)}
          className={classes(
            css.cell,
            each.kind === "found" && css.found,
            each.type === "number" && css.number,
            each.isPinned && css.pinned,
          )}
          style={each.isPinned ? { left: leftOf(columns, index, firstWidth) } : undefined}
        >
          {row ? <Cell type={each.type} text={row.cells[each.place]} /> : <span className={css.grey} />}
        </div>
      ))}
    </div>
  );
});

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest("a, input, button, label") !== null;
}

/** The number of the row, whether it is selected, and its status. */
function First(props: RowProps & { cell: Record<string, unknown> }) {
  const { place, row, isNarrow, isSelected, onOpen, onSelect, cell } = props;
  return (
    <div role="rowheader" {...cell} className={classes(css.cell, css.first)}>
      {row ? (
        <>
          <SelectBox
            label={`Select row ${row.id}`}
            tabIndex={-1}
            checked={isSelected}
            onSelect={(isRange) => onSelect(place, isRange)}
          />
          <button type="button" tabIndex={-1} className={css.open} onClick={() => onOpen(place)}>
            {exact(Number(row.id))}
          </button>
          <Pill status={row.status} small={isNarrow} />
        </>
      ) : (
        <>
          <span className={css.box16} />
          <span className={css.open}>{exact(place + 1)}</span>
        </>
      )}
    </div>
  );
}
