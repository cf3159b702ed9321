import css from "./difference.module.css";

/** A unified difference: the first character of each line says what happened to it. */
export function Difference({ text, label = "Difference" }: { text: string; label?: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre className={css.difference} tabIndex={0} role="region" aria-label={label}>
      {text.split("\n").map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of one text
        <span key={index} data-sign={/^[-+@]/.exec(line)?.[0]}>
          {`${line}\n`}
        </span>
      ))}
    </pre>
  );
}
