import type { ReactNode } from "react";
import css from "./facts.module.css";

/** What is known of a thing, as names and values. Those without a value are left out. */
export function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className={css.facts}>
      {facts.map(([name, value]) =>
        value === null || value === undefined || value === false || value === "" ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
