import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useReducer,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { flushSync } from "react-dom";
import type { GridRow, Slice } from "~/api/grid";
import { exact } from "~/format";
import type { Rows } from "./blocks";
import { leftOf, type ShownColumn } from "./columns";
import css from "./grid.module.css";
import { Header, type Sorting } from "./header";
import { Ribbon } from "./ribbon";
import { Row } from "./row";
import { Scroller } from "./scroller";

const MORE = 8; // rows that are drawn beyond both ends
const HEADER = 32;
const JUMP_REST_MS = 80;
const REST_MS = 140;
const REFRESH_MS = 2000;

/** A cell, by the places of its row and column from 0. */
export interface Place {
  row: number;
  column: number;
}

interface GridProps {
  label: string;
  rows: Rows<GridRow>;
  /** The highest number that a row can have. */
  last: number;
  columns: ShownColumn[];
  onWidth: (key: string, width: number) => void;
  sorting: Sorting;
  at: Place;
  /** Grows with each move of the cell, which brings it into view. */
  moves: number;
  onMove: (to: Place) => void;
  isSelected: (id: string) => boolean;
  onSelect: (row: number, isRange: boolean) => void;
  onSelectAll: () => void;
  onOpen: (row: number) => void;
  onCopy: () => string;
  /** Load what is seen again from time to time. */
  isLive: boolean;
  /** For the ribbon; empty while they are loaded, undefined without a ribbon. */
  slices: Slice[] | undefined;
  none: ReactNode;
}

/** A grid of any number of rows, of which only those in view are drawn and loaded. */
export function Grid(props: GridProps) {
  const { label, rows, columns, at, moves, onMove, isLive, slices, none } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [scroller] = useState(() => new Scroller());
  const [, draw] = useReducer((count: number) => count + 1, 0);
  useSyncExternalStore(rows.subscribe, rows.version);
  const { view, rowHeight, isNarrow } = useSizes(box);
  scroller.resize(rows.count, rowHeight, view);
  const before = useRef({ rows, prepended: rows.prepended });
  if (before.current.rows === rows && before.current.prepended < rows.prepended) {
    scroller.shift(rows.prepended - before.current.prepended);
  }
  before.current = { rows, prepended: rows.prepended };
  const rest = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isJumping = useRef(false);

  const scrollBox = () => {
    const element = box.current!;
    if (Math.abs(element.scrollTop - scroller.real) >= 1) element.scrollTop = scroller.real;
    scroller.real = element.scrollTop;
  };
  const load = (ahead: 1 | -1 = 1) => rows.want(...scroller.range(), ahead);
  const go = (change: () => void) => {
    change();
    flushSync(draw);
    scrollBox();
    draw();
    load();
  };
  const scrolled = () => {
    const before = scroller.top;
    if (scroller.moved(box.current!.scrollTop)) isJumping.current = true;
    if (scroller.top === before) return;
    draw();
    if (!isJumping.current) load(scroller.top > before ? 1 : -1);
    clearTimeout(rest.current);
    rest.current = setTimeout(
      () => {
        isJumping.current = false;
        go(() => scroller.settle());
      },
      isJumping.current ? JUMP_REST_MS : REST_MS,
    );
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is seen changes with these
  useLayoutEffect(() => {
    scrollBox();
    load();
  }, [rows, rows.count, view, rowHeight]);
  useEffect(() => () => clearTimeout(rest.current), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a move of the cell brings it into view
  useLayoutEffect(() => {
    if (view > 0 && at.row < rows.count) go(() => scroller.show(at.row));
  }, [moves, view > 0]);
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => document.hidden || rows.refresh(...scroller.range()), REFRESH_MS);
    return () => {
      clearInterval(timer);
      rows.refresh(...scroller.range()); // the last changes came after the last time
    };
  }, [isLive, rows, scroller]);

  const [first, end] = scroller.range(MORE);
  const [seen, seenEnd] = scroller.range();
  const numberWidth = exact(props.last).length * 8;
  const firstWidth = (isNarrow ? 68 : 160) + Math.max(24, numberWidth);
  const isSingle = isNarrow && columns.length === 1; // it has the room that there is
  const template = isSingle
    ? `${firstWidth}px minmax(0, 1fr)`
    : [firstWidth, ...columns.map((column) => column.width)].map((each) => `${each}px`).join(" ");
  const width = isSingle ? "100%" : leftOf(columns, columns.length, firstWidth);
  const isDrawn = at.row >= first && at.row < end;

  return (
    <div className={css.frame}>
      <div
        ref={box}
        role="grid"
        tabIndex={0}
        aria-label={label}
        aria-rowcount={rows.count + 1}
        aria-colcount={columns.length + 1}
        aria-multiselectable="true"
        aria-activedescendant={isDrawn ? `${id}-${at.row}-${at.column}` : undefined}
        className={css.box}
        onScroll={scrolled}
        onKeyDown={(event) => press(event, props, Math.max(1, seenEnd - seen - 2))}
        onCopy={(event) => {
          if (getSelection()?.toString()) return;
          event.preventDefault();
          event.clipboardData.setData("text/plain", props.onCopy());
        }}
      >
        <Header
          columns={columns}
          firstWidth={firstWidth}
          template={template}
          width={width}
          sorting={props.sorting}
          onWidth={props.onWidth}
        />
        <div
          role={rows.count > 0 ? "rowgroup" : undefined}
          className={css.body}
          style={{ height: scroller.realHeight, width }}
        >
          {Array.from({ length: end - first }, (_, index) => {
            const place = first + index;
            const row = rows.at(place);
            return (
              <Row
                key={place}
                id={id}
                place={place}
                row={row}
                columns={columns}
                firstWidth={firstWidth}
                template={template}
                top={place * rowHeight + scroller.offset}
                isNarrow={isNarrow}
                column={place === at.row ? at.column : undefined}
                isSelected={row !== undefined && props.isSelected(row.id)}
                onMove={onMove}
                onOpen={props.onOpen}
                onSelect={props.onSelect}
              />
            );
          })}
        </div>
      </div>
      {rows.count === 0 && <div className={css.none}>{none}</div>}
      {slices && slices.length === 0 && <div className={css.ribbon} />}
      {slices && slices.length > 0 && (
        <Ribbon
          slices={slices}
          count={rows.count}
          seen={[seen, seenEnd]}
          onGo={(row) => go(() => scroller.place(row * rowHeight))}
        />
      )}
    </div>
  );
}

function press(event: KeyboardEvent, props: GridProps, page: number): void {
  const { at, rows, columns, onMove } = props;
  const isMod = event.ctrlKey || event.metaKey;
  const lastRow = Math.max(0, rows.count - 1);
  const lastColumn = columns.length;
  const row = (to: number) => ({ ...at, row: Math.max(0, Math.min(lastRow, to)) });
  const column = (to: number) => ({ ...at, column: Math.max(0, Math.min(lastColumn, to)) });
  const moves: Record<string, () => Place> = {
    ArrowDown: () => row(at.row + 1),
    ArrowUp: () => row(at.row - 1),
    PageDown: () => row(at.row + page),
    PageUp: () => row(at.row - page),
    ArrowRight: () => column(at.column + 1),
    ArrowLeft: () => column(at.column - 1),
    Home: () => (isMod ? { row: 0, column: 0 } : column(0)),
    End: () => (isMod ? { row: lastRow, column: lastColumn } : column(lastColumn)),
  };
  const isInside = event.target !== event.currentTarget; // a link, or a box to tick
  if (event.altKey) return;
  if (moves[event.key]) onMove(moves[event.key]!());
  else if (event.key === "Enter" && !isInside) props.onOpen(at.row);
  else if (event.key === " " && !isInside) props.onSelect(at.row, event.shiftKey);
  else if (event.key === "a" && isMod) props.onSelectAll();
  else return;
  event.preventDefault();
}

/** The height of a row by the density, that of the view, and whether there is little room. */
function useSizes(box: React.RefObject<HTMLDivElement | null>) {
  const [sizes, setSizes] = useState({ view: 0, rowHeight: 32, isNarrow: false });
  useLayoutEffect(() => {
    const element = box.current!;
    const measure = () => {
      const view = Math.max(0, element.clientHeight - HEADER);
      const rowHeight = Number.parseFloat(getComputedStyle(element).getPropertyValue("--row")) || 32;
      const isNarrow = element.clientWidth < 600;
      setSizes((now) =>
        now.view === view && now.rowHeight === rowHeight && now.isNarrow === isNarrow
          ? now
          : { view, rowHeight, isNarrow },
      );
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return sizes;
}
