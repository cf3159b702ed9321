import type { ReactNode } from "react";
import { STATUSES, type StatusName } from "~/words";
import { classes } from "./classes";
import css from "./pill.module.css";
import { Shape } from "./shape";

/** A status: colour, shape and word. `small` shows the shape only; its name is still heard and in the tooltip. */
export function Pill({ status, small, children }: { status: StatusName; small?: boolean; children?: ReactNode }) {
  const { shape, tone, word } = STATUSES[status];
  return (
    <span className={classes(css.pill, css[tone], small && css.small)} title={small ? word : undefined}>
      <Shape name={shape} className={shape === "quarter" ? css.turning : undefined} />
      {small ? <span className="only-heard">{children ?? word}</span> : (children ?? word)}
    </span>
  );
}
