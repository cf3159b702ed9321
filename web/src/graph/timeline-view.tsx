import { type ReactNode, useState } from "react";
import { duration } from "~/format";
import { useCommands } from "~/shell/commands";
import { Button } from "~/ui/button";
import { classes } from "~/ui/classes";
import { type Span, scaleOf } from "./timeline";
import css from "./timeline.module.css";

interface TimelineProps {
  label: string;
  rows: { key: string; name: ReactNode }[];
  spans: Span[];
}

/** Attempts and waits, in rows. Long waits are folded; `q` unfolds them. */
export function Timeline({ label, rows, spans }: TimelineProps) {
  const [isUnfolded, setUnfolded] = useState(false);
  const toggle = () => setUnfolded(!isUnfolded);
  useCommands([{ id: "timeline-folds", title: "Fold or unfold waits", group: "Timeline", keys: "q", run: toggle }]);
  const scale = scaleOf(spans, isUnfolded);
  const spansOf = Map.groupBy(spans, (span) => span.row);
  const percent = (seconds: number) => `${(100 * scale.place(seconds)) / scale.length}%`;
  const width = (from: number, to: number) => `${(100 * (scale.place(to) - scale.place(from))) / scale.length}%`;
  if (spans.length === 0) return <p className="muted">Nothing has happened yet.</p>;
  return (
    <figure className={css.figure} aria-label={label}>
      <div className={css.rows}>
        {rows.map(({ key, name }) => (
          <div key={key} className={css.row}>
            <span className={classes(css.name, "cut")}>{name}</span>
            <span className={css.track}>
              {spansOf.get(key)?.map((span) => (
                <span
                  key={`${span.kind} ${span.from} ${span.to}`}
                  className={classes(css.span, css[span.kind], span.outcome && css[toneOf(span.outcome)])}
                  style={{
                    left: span.kind === "run" ? `min(${percent(span.from)}, 100% - 3px)` : percent(span.from),
                    width: width(span.from, span.to),
                  }}
                  title={span.title}
                >
                  <span className="only-heard">{span.title}</span>
                </span>
              ))}
            </span>
          </div>
        ))}
        <div className={css.row} aria-hidden="true">
          <span className={css.name} />
          <span className={classes(css.track, css.axis)}>
            {scale.folds.map((fold) => (
              <span
                key={fold.from}
                className={css.fold}
                style={{ left: percent(fold.from), width: width(fold.from, fold.to) }}
              >
                {duration(fold.to - fold.from)}
              </span>
            ))}
          </span>
        </div>
      </div>
      {(scale.folds.length > 0 || isUnfolded) && (
        <Button look="plain" shortcut="q" onClick={toggle}>
          {isUnfolded ? "Fold long waits" : "Show waits in full"}
        </Button>
      )}
    </figure>
  );
}

function toneOf(outcome: string): "done" | "error" | "notFound" | "throttle" | "running" | "other" {
  if (outcome === "DONE") return "done";
  if (outcome === "ERROR") return "error";
  if (outcome === "NOT_FOUND") return "notFound";
  if (outcome === "RUNNING") return "running";
  return outcome === "THROTTLED" || outcome === "EXPIRED" ? "throttle" : "other";
}
