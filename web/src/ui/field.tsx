import { type ComponentProps, type ReactNode, useId } from "react";
import css from "./field.module.css";

interface Around {
  label: ReactNode;
  hint?: ReactNode;
  /** What is wrong with the value, from the server's `errors[]` or a check. */
  wrong?: string;
  hideLabel?: boolean;
}

interface Inside {
  id: string;
  className: string | undefined;
  "aria-invalid": boolean | undefined;
  "aria-describedby": string | undefined;
}

function Framed({ label, hint, wrong, hideLabel, children }: Around & { children: (given: Inside) => ReactNode }) {
  const id = useId();
  const describedBy = [hint && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(" ") || undefined;
  return (
    <div className={css.field}>
      <label htmlFor={id} className={hideLabel ? "only-heard" : css.label}>
        {label}
      </label>
      {children({
        id,
        className: css.input,
        "aria-invalid": wrong ? true : undefined,
        "aria-describedby": describedBy,
      })}
      {hint && (
        <span id={`${id}-hint`} className={css.hint}>
          {hint}
        </span>
      )}
      {wrong && (
        <span id={`${id}-wrong`} className={css.wrong} role="alert">
          {wrong}
        </span>
      )}
    </div>
  );
}

type Native<E extends "input" | "textarea" | "select"> = Omit<ComponentProps<E>, "id" | "className">;

export function Field({ label, hint, wrong, hideLabel, ...rest }: Around & Native<"input">) {
  return (
    <Framed {...{ label, hint, wrong, hideLabel }}>
      {(given) => <input autoComplete="off" {...rest} {...given} />}
    </Framed>
  );
}

export function TextArea({ label, hint, wrong, hideLabel, ...rest }: Around & Native<"textarea">) {
  return <Framed {...{ label, hint, wrong, hideLabel }}>{(given) => <textarea {...rest} {...given} />}</Framed>;
}

export interface Option<K extends string> {
  value: K;
  label: string;
}

interface SelectProps<K extends string> extends Omit<Native<"select">, "value" | "onChange"> {
  options: Option<K>[];
  value: K;
  onChange: (value: K) => void;
}

export function Select<K extends string>({
  label,
  hint,
  wrong,
  hideLabel,
  options,
  value,
  onChange,
  ...rest
}: Around & SelectProps<K>) {
  return (
    <Framed {...{ label, hint, wrong, hideLabel }}>
      {(given) => (
        <select {...rest} {...given} value={value} onChange={(event) => onChange(event.target.value as K)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Framed>
  );
}

export function Check({ label, ...rest }: { label: ReactNode } & Omit<ComponentProps<"input">, "type" | "className">) {
  return (
    <label className={css.check}>
      <input type="checkbox" {...rest} />
      <span>{label}</span>
    </label>
  );
}
