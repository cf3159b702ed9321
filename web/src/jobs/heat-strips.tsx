import { useQuery } from "@tanstack/react-query";
import { usePipeline } from "~/api/app";
import { seriesQuery } from "~/api/ops";
import { clock } from "~/format";
import { Loaded } from "~/shell/trouble";
import { classes } from "~/ui/classes";
import { Skeleton } from "~/ui/skeleton";
import { STATUSES } from "~/words";
import { minutesOf, mostOf, type Outcomes, sumOf, wordsOf, worstOf } from "./heat";
import css from "./heat-strips.module.css";

/** The attempts of the last hour by step and minute, of all jobs of a pipeline. */
export function HeatStrips({ pipeline }: { pipeline: string }) {
  const { info, title } = usePipeline(pipeline);
  const query = useQuery(seriesQuery);
  const steps = info?.steps.map((step) => step.name) ?? [];
  return (
    <figure className={css.figure}>
      <figcaption className="muted">Attempts of the last hour by minute, of all jobs of {title}</figcaption>
      <Loaded query={query} what="The attempts" loading={<Skeleton height={28 * steps.length} />}>
        {(series) => {
          const most = mostOf(series, pipeline);
          return (
            <>
              {steps.map((step) => (
                <Strip key={step} step={step} minutes={minutesOf(series, pipeline, step)} most={most} />
              ))}
            </>
          );
        }}
      </Loaded>
    </figure>
  );
}

function Strip({ step, minutes, most }: { step: string; minutes: [Date, Outcomes][]; most: number }) {
  const total: Outcomes = {};
  for (const [, outcomes] of minutes)
    for (const [name, count] of Object.entries(outcomes)) total[name] = (total[name] ?? 0) + count;
  return (
    <div className={css.row}>
      <span className={classes(css.name, "cut")}>{step}</span>
      <span className={css.strip} role="img" aria-label={`${step}: ${wordsOf(total)} in the last hour`}>
        {minutes.map(([minute, outcomes]) => {
          const count = sumOf(outcomes);
          const worst = worstOf(outcomes);
          const tone = worst && STATUSES[worst].tone;
          return (
            <span
              key={minute.getTime()}
              className={classes(css.minute, tone && css[tone])}
              style={{ opacity: count > 0 ? 0.3 + (0.7 * Math.log1p(count)) / Math.log1p(most) : 1 }}
              title={`${clock(minute)}: ${wordsOf(outcomes)}`}
            />
          );
        })}
      </span>
    </div>
  );
}
