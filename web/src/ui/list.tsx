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
  /** Its cells say by themselves what they are: on a phone, where each row is a few lines, its title is left out. */
  isClear?: boolean;
  /** The rows are in the order of this column. */
  order?: "ascending" | "descending";
}

interface TableProps<T> {
  label: string;
  columns: Column<T>[];
  rows: T[];
  rowKey: (row: T) => string;
  isSelected?: (row: T) => boolean;
  /** Attributes of a row, as those of `useListKeys`. */
  rowProps?: (index: number) => ComponentProps<"tr">;
}

/** A table for some hundred rows; the grid is for more. It scrolls sideways by itself. */
export function Table<T>({ label, columns, rows, rowKey, isSelected, rowProps }: TableProps<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div className={css.wrap} tabIndex={0} role="region" aria-label={label}>
      <table className={css.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                aria-sort={column.order}
                className={column.number ? css.number : undefined}
              >
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr
              key={rowKey(row)}
              aria-selected={isSelected?.(row) || undefined}
              data-press={Boolean(isSelected) || undefined}
              {...rowProps?.(index)}
            >
              {columns.map((column) => (
                <td
                  key={column.key}
                  className={column.number ? css.number : undefined}
                  data-title={column.isClear || typeof column.title !== "string" ? undefined : column.title}
                >
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
