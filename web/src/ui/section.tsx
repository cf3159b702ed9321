import { type ReactNode, useId } from "react";
import css from "./section.module.css";

interface SectionProps {
  title: ReactNode;
  /** Beside the heading, as a link to more. */
  beside?: ReactNode;
  children: ReactNode;
}

/** A part of a page with its heading. */
export function Section({ title, beside, children }: SectionProps) {
  const id = useId();
  return (
    <section className={css.section} aria-labelledby={id}>
      <div className={css.head}>
        <h2 id={id}>{title}</h2>
        {beside}
      </div>
      {children}
    </section>
  );
}
