import type { ReactNode } from "react";
import css from "./chips.module.css";
import { classes } from "./classes";

export interface Chip<K extends string> {
  value: K;
  label: ReactNode;
  count?: ReactNode;
}

interface ChipsProps<K extends string> {
  label: string;
  chips: Chip<K>[];
  chosen: readonly K[];
  onChange: (chosen: K[]) => void;
}

/** A filter of which several values may be chosen; none means all. */
export function Chips<K extends string>({ label, chips, chosen, onChange }: ChipsProps<K>) {
  return (
    <fieldset className={css.chips}>
      <legend className="only-heard">{label}</legend>
      {chips.map(({ value, label: word, count }) => {
        const isOn = chosen.includes(value);
        return (
          <button
            key={value}
            type="button"
            aria-pressed={isOn}
            className={classes(css.chip, isOn && css.on)}
            onClick={() => onChange(isOn ? chosen.filter((each) => each !== value) : [...chosen, value])}
          >
            {word}
            {count !== undefined && <span className={css.count}>{count}</span>}
          </button>
        );
      })}
    </fieldset>
  );
}
