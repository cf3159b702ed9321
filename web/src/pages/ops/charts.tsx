import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { depthSeriesQuery, type Series, seriesQuery } from "~/api/ops";
import { clock, duration, short } from "~/format";
import { Loaded } from "~/shell/trouble";
import { type Column, Table } from "~/ui/list";
import { Skeleton } from "~/ui/skeleton";
import { plural, STATUSES, type StatusName, statusWord } from "~/words";
import css from "./ops.module.css";
import {
  attemptsIn,
  byErrorClass,
  byMinute,
  byOutcome,
  depths,
  durations,
  type Lines,
  minutesIn,
  type Range,
  searchOf,
  wholeRange,
  within,
} from "./series";

const Chart = lazy(() => import("./chart"));
const COLOURS = [
  "--run-solid",
  "--done-solid",
  "--notfound-solid",
  "--pause-solid",
  "--throttle-solid",
  "--error-solid",
];
const ERROR_COLOURS = ["--error-solid", "--throttle-solid", "--pause-solid", "--wait-solid"];
const HEIGHT = 232; // of a chart with its legend: nothing moves when it comes

interface ChartsProps {
  asTable: boolean;
  range: Range | undefined;
  onRange: (range: Range | undefined) => void;
}

/** Four charts of the last hour, or their numbers as tables. */
export function Charts(view: ChartsProps) {
  const series = useQuery(seriesQuery);
  const depth = useQuery(depthSeriesQuery);
  const loading = (title: string) => (
    <div className={css.chart}>
      <div className={css.head}>
        <h3>{title}</h3>
      </div>
      <Skeleton height={HEIGHT} />
    </div>
  );
  return (
    <div className={css.charts}>
      <Loaded query={series} what="The attempts" loading={loading("Attempts per minute")}>
        {(data) => (
          <Figure
            {...view}
            title="Attempts per minute"
            data={byOutcome(data)}
            shown={short}
            named={statusWord}
            coloured={outcomeColour}
            none="No attempt has ended in the last hour."
            link={<Attempts series={data} range={view.range} noun="attempt" />}
          />
        )}
      </Loaded>
      <Loaded query={depth} what="The depth" loading={loading("Waiting tasks")}>
        {(data) => (
          <Figure
            {...view}
            title="Waiting tasks"
            data={depths(data)}
            shown={short}
            none={
              data.at.length === 0
                ? "The API has just started: the first sample comes within seconds."
                : "Nothing has waited since the API started, or in the last hour."
            }
            link={<Link to="/ops/queues">Queues</Link>}
          />
        )}
      </Loaded>
      <Loaded query={series} what="The durations" loading={loading("How long attempts take")}>
        {(data) => (
          <Figure
            {...view}
            title="How long attempts take"
            note="p50: half of them take less; p95: 95 of 100 do."
            data={durations(data)}
            shown={(seconds) => (seconds === 0 ? "0" : duration(seconds))}
            coloured={(_, index) => COLOURS[Math.floor(index / 2)]!}
            none="No attempt has succeeded in the last hour."
            link={<Attempts series={data} range={view.range} noun="successful attempt" outcome="DONE" />}
          />
        )}
      </Loaded>
      <Loaded query={series} what="The errors" loading={loading("Errors per minute")}>
        {(data) => (
          <Figure
            {...view}
            title="Errors per minute"
            data={byErrorClass(data)}
            shown={short}
            coloured={(_, index) => ERROR_COLOURS[index % ERROR_COLOURS.length]!}
            none="No attempt has failed in the last hour."
            link={<Attempts series={data} range={view.range} noun="error" outcome="ERROR" />}
          />
        )}
      </Loaded>
    </div>
  );
}

interface AttemptsProps {
  series: Series;
  range: Range | undefined;
  noun: string;
  outcome?: string;
}

/** "These 214 attempts": those of the chosen time, or of the hour. */
function Attempts({ series, range, noun, outcome }: AttemptsProps) {
  const time = range ?? wholeRange(series);
  const count = time ? attemptsIn(series, time, outcome) : 0;
  if (!time || count === 0) return null;
  return (
    <Link to="/ops/attempts" search={{ ...searchOf(time), ...(outcome && { outcome }) }}>
      {count === 1 ? `This ${noun}` : `These ${plural(count, noun)}`}
    </Link>
  );
}

interface FigureProps extends ChartsProps {
  title: string;
  note?: string;
  data: Lines;
  shown: (value: number) => string;
  named?: (name: string) => string;
  coloured?: (name: string, index: number) => string;
  none: string;
  link?: ReactNode;
}

function Figure({ title, note, data, asTable, shown, named = String, coloured, none, link, ...view }: FigureProps) {
  const names = data.lines.map((line) => named(line.name));
  const colours = data.lines.map((line, index) => coloured?.(line.name, index) ?? COLOURS[index % COLOURS.length]!);
  return (
    <figure
      className={css.chart}
      aria-label={data.lines.length > 0 ? `${title}. ${summary(data, names, shown)}` : title}
    >
      <div className={css.head}>
        <h3>{title}</h3>
        {link}
      </div>
      {note && data.lines.length > 0 && <p className={css.side}>{note}</p>}
      {data.lines.length === 0 ? (
        <p className={css.quiet}>{none}</p>
      ) : asTable ? (
        <Numbers title={title} data={byMinute(within(data, view.range))} names={names} shown={shown} />
      ) : (
        <Suspense fallback={<Skeleton height={HEIGHT} />}>
          <Chart data={data} colours={colours} names={names} shown={shown} {...view} />
        </Suspense>
      )}
    </figure>
  );
}

/** The newest value and the largest of each line, for those who do not see it. */
function summary({ lines }: Lines, names: string[], shown: (value: number) => string): string {
  return lines
    .map((line, index) => {
      const known = line.values.filter((value) => value !== null);
      return `${names[index]}: ${shown(known.at(-1) ?? 0)} now, at most ${shown(Math.max(0, ...known))}`;
    })
    .join("; ");
}

interface NumbersProps {
  title: string;
  data: Lines;
  names: string[];
  shown: (value: number) => string;
}

function Numbers({ title, data, names, shown }: NumbersProps) {
  const rows = data.times.map((time, index) => ({ time, index })).reverse();
  const columns: Column<(typeof rows)[number]>[] = [
    {
      key: "time",
      title: "Time",
      cell: ({ time }) => (
        <Link to="/ops/attempts" search={searchOf(minutesIn(time, time))} title="The attempts of this minute">
          {clock(new Date(time * 1000))}
        </Link>
      ),
    },
    ...data.lines.map(
      (line, each): Column<(typeof rows)[number]> => ({
        key: line.name,
        title: names[each],
        number: true,
        cell: ({ index }) => {
          const value = line.values[index];
          return value === null || value === undefined ? "" : shown(value);
        },
      }),
    ),
  ];
  return (
    <div className={css.numbersOf}>
      <Table label={title} columns={columns} rows={rows} rowKey={({ time }) => String(time)} />
    </div>
  );
}

function outcomeColour(name: string): string {
  return `--${name in STATUSES ? STATUSES[name as StatusName].tone : "wait"}-solid`;
}
