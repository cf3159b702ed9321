import type { ComponentProps, ReactNode } from "react";
import { Amount } from "./amount";
import css from "./entries.module.css";

/** A bordered list of things with buttons: `<Entries label="Queues"><Entry><What …/><Numbers …/><Actions>…`. */
export function Entries({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} className={css.entries}>
      {children}
    </ul>
  );
}

/** An entry; its attributes may be those of `useListKeys`. */
export function Entry(props: Omit<ComponentProps<"li">, "className">) {
  return <li {...props} className={css.entry} />;
}

/** What an entry is: its name, and lines below it. */
export function What({ name, children }: { name?: ReactNode; children?: ReactNode }) {
  return (
    <div className={css.what}>
      {name && <span className={css.name}>{name}</span>}
      {children}
    </div>
  );
}

/** A line in small muted letters. */
export function Side({ children }: { children: ReactNode }) {
  return <span className={css.side}>{children}</span>;
}

interface NumbersProps {
  /** Values and their words, and a tooltip where the word does not suffice. */
  values: [number, string, string?][];
}

export function Numbers({ values }: NumbersProps) {
  return (
    <div className={css.numbers}>
      {values.map(([value, word, title]) => (
        <span key={word} title={title}>
          <strong>
            <Amount value={value} />
          </strong>
          {word}
        </span>
      ))}
    </div>
  );
}

export function Actions({ children }: { children: ReactNode }) {
  return <div className={css.actions}>{children}</div>;
}
