import type { GridColumn } from "~/api/grid";
import css from "./grid.module.css";

/** A cell by its type, in one line. */
export function Cell({ type, text }: { type: GridColumn["type"]; text: string | null | undefined }) {
  if (!text) return null;
  if ((type === "link" || type === "image") && /^https?:\/\//i.test(text)) {
    return (
      <a href={text} target="_blank" rel="noreferrer" tabIndex={-1} className="cut">
        {text.replace(/^https?:\/\/(www\.)?/i, "")}
      </a>
    );
  }
  if (type === "score") return <Score text={text} />;
  return <span className="cut">{text}</span>;
}

function Score({ text }: { text: string }) {
  const value = Number(text);
  if (!(value >= 0 && value <= 1)) return <span className="cut">{text}</span>;
  return (
    <span className={css.score}>
      <span className={css.scale}>
        <span style={{ transform: `scaleX(${value})` }} />
      </span>
      {value.toFixed(2)}
    </span>
  );
}
