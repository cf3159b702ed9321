import type { ComponentProps, ReactNode } from "react";
import { classes } from "./classes";
import css from "./list.module.css";

/** A bordered panel with rows: `<List label="Jobs"><li><Row>…</Row></li></List>`. */
export function List({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} className={classes(css.panel, css.list)}>
      {children}
    </ul>
  );
}

/** The class of a row's element, which may be a link: `<Link className={rowClass}>`. */
export const rowClass = css.row!;

export function Row({ children, ...rest }: Omit<ComponentProps<"div">, "className">) {
  return (
    <div {...rest} className={css.row}>
      {children}
    </div>
  );
}

/** A bordered panel. */
export function Card({ children, ...rest }: Omit<ComponentProps<"section">, "className">) {
  return (
    <section {...rest} className={css.panel}>
      {children}
    </section>
  );
}

export interface Column<T> {
  key: string;
  title: ReactNode;
  cell: (row: T) => ReactNode;
  number?: boolean;
}

interface TableProps<T> {
  label: string;
  columns: Column<T>[];
  rows: T[];
  rowKey: (row: T) => string;
  isSelected?: (row: T) => boolean;
}

/** A table for some hundred rows; the grid is for more. It scrolls sideways by itself. */
export function Table<T>({ label, columns, rows, rowKey, isSelected }: TableProps<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div className={css.wrap} tabIndex={0} role="region" aria-label={label}>
      <table className={css.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.key} scope="col" className={column.number ? css.number : undefined}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} aria-selected={isSelected?.(row) || undefined}>
              {columns.map((column) => (
                <td key={column.key} className={column.number ? css.number : undefined}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
