import type { PointerEvent } from "react";
import { classes } from "~/ui/classes";
import type { ShownColumn } from "./columns";
import css from "./grid.module.css";

interface HeaderProps {
  columns: ShownColumn[];
  template: string;
  width: number;
  onWidth: (key: string, width: number) => void;
}

/** The titles of the columns; their edges are dragged to make them wider. */
export function Header({ columns, template, width, onWidth }: HeaderProps) {
  return (
    <div role="rowgroup" className={css.head} style={{ width }}>
      <div role="row" aria-rowindex={1} className={css.titles} style={{ gridTemplateColumns: template }}>
        <div role="columnheader" aria-colindex={1} className={classes(css.title, css.first)}>
          Row
        </div>
        {columns.map((column, index) => (
          <div
            key={column.key}
            role="columnheader"
            aria-colindex={index + 2}
            title={column.title}
            className={classes(css.title, column.kind === "found" && css.found, column.type === "number" && css.number)}
          >
            <span className="cut">{column.title}</span>
            <Edge width={column.width} onWidth={(to) => onWidth(column.key, to)} />
          </div>
        ))}
      </div>
    </div>
  );
}

function Edge({ width, onWidth }: { width: number; onWidth: (width: number) => void }) {
  const begin = (event: PointerEvent<HTMLSpanElement>) => {
    const edge = event.currentTarget;
    const from = event.clientX;
    edge.setPointerCapture(event.pointerId);
    edge.onpointermove = (move) => onWidth(width + move.clientX - from);
    edge.onpointerup = edge.onpointercancel = () => {
      edge.onpointermove = null;
    };
  };
  return <span className={css.edge} aria-hidden="true" onPointerDown={begin} />;
}
