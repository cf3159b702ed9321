import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import css from "./combobox.module.css";
import fieldCss from "./field.module.css";

export interface Choice {
  key: string;
  label: string;
  detail?: ReactNode;
}

interface ComboboxProps {
  label: string;
  hideLabel?: boolean;
  value: string;
  onChange: (text: string) => void;
  /** What can be chosen for the text; the caller filters. */
  choices: Choice[];
  onChoose: (choice: Choice) => void;
  /** Enter with nothing chosen, as for a new tag. */
  onEnter?: (text: string) => void;
  placeholder?: string;
  none?: string;
}

/** A text field with suggestions: arrows move, Enter chooses, Escape closes. */
export function Combobox({
  label,
  hideLabel,
  value,
  onChange,
  choices,
  onChoose,
  onEnter,
  placeholder,
  none,
}: ComboboxProps) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const isShown = open && (choices.length > 0 || none !== undefined);
  const chosen = open ? choices[at] : undefined;
  const choose = (choice: Choice) => {
    onChoose(choice);
    setOpen(false);
    setAt(-1);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setOpen(true);
      setAt((now) => (now + step + choices.length) % Math.max(1, choices.length));
    } else if (event.key === "Enter" && chosen) {
      event.preventDefault();
      choose(chosen);
    } else if (event.key === "Enter" && onEnter && value.trim()) {
      event.preventDefault();
      onEnter(value.trim());
    } else if (event.key === "Escape" && open) {
      event.stopPropagation();
      setOpen(false);
    }
  };
  return (
    <div className={fieldCss.field}>
      <label htmlFor={id} className={hideLabel ? "only-heard" : fieldCss.label}>
        {label}
      </label>
      <div className={css.box}>
        <input
          id={id}
          role="combobox"
          aria-expanded={isShown}
          aria-controls={isShown ? `${id}-list` : undefined}
          aria-autocomplete="list"
          aria-activedescendant={chosen ? `${id}-${chosen.key}` : undefined}
          autoComplete="off"
          className={fieldCss.input}
          value={value}
          placeholder={placeholder}
          onChange={(event) => {
            onChange(event.target.value);
            setOpen(true);
            setAt(-1);
          }}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={press}
        />
        {isShown && (
          <div id={`${id}-list`} role="listbox" aria-label={label} className={css.list}>
            {choices.map((choice, index) => (
              <div
                key={choice.key}
                id={`${id}-${choice.key}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === at}
                className={css.option}
                onPointerDown={(event) => {
                  event.preventDefault();
                  choose(choice);
                }}
              >
                <span className="grow">{choice.label}</span>
                {choice.detail}
              </div>
            ))}
            {choices.length === 0 && <div className={css.none}>{none}</div>}
          </div>
        )}
      </div>
    </div>
  );
}
