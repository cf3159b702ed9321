import type { ReactNode } from "react";
import css from "./selection-bar.module.css";

/** What can be done with the selected rows, at the foot of what is seen: the rows do not move when it comes. */
export function SelectionBar({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section className={css.bar} aria-label={label}>
      {children}
    </section>
  );
}
