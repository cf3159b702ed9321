import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { depthSeriesQuery, seriesQuery } from "~/api/ops";
import { clock, duration, short } from "~/format";
import { Loaded } from "~/shell/trouble";
import { type Column, Table } from "~/ui/list";
import { Skeleton } from "~/ui/skeleton";
import { STATUSES, type StatusName, statusWord } from "~/words";
import css from "./ops.module.css";
import { byErrorClass, byOutcome, depths, type Lines, slowest } from "./series";

const Chart = lazy(() => import("./chart"));
const COLOURS = [
  "--run-solid",
  "--done-solid",
  "--notfound-solid",
  "--pause-solid",
  "--throttle-solid",
  "--error-solid",
];
const TABLE_ROWS = 12;
const HEIGHT = 232; // of a chart with its legend: nothing moves when it comes

/** Four charts of the last hour, or their numbers as tables. */
export function Charts({ asTable }: { asTable: boolean }) {
  const series = useQuery(seriesQuery);
  const depth = useQuery(depthSeriesQuery);
  const loading = <Skeleton height={HEIGHT} />;
  return (
    <div className={css.charts}>
      <Loaded
        query={series}
        what="The attempts"
        loading={<Figures titles={["Attempts per minute"]}>{loading}</Figures>}
      >
        {(data) => (
          <Figure
            title="Attempts per minute"
            data={byOutcome(data)}
            asTable={asTable}
            shown={short}
            named={statusWord}
            coloured={outcomeColour}
            none="No attempt has ended in the last hour."
            link={<Link to="/ops/attempts">These attempts</Link>}
          />
        )}
      </Loaded>
      <Loaded query={depth} what="The depth" loading={<Figures titles={["Waiting tasks"]}>{loading}</Figures>}>
        {(data) => (
          <Figure
            title="Waiting tasks"
            data={depths(data)}
            asTable={asTable}
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
      <Loaded
        query={series}
        what="The durations"
        loading={<Figures titles={["95 of 100 attempts end within"]}>{loading}</Figures>}
      >
        {(data) => (
          <Figure
            title="95 of 100 attempts end within"
            data={slowest(data)}
            asTable={asTable}
            shown={(seconds) => (seconds === 0 ? "0" : duration(seconds))}
            none="No attempt has ended in the last hour."
          />
        )}
      </Loaded>
      <Loaded query={series} what="The errors" loading={<Figures titles={["Errors per minute"]}>{loading}</Figures>}>
        {(data) => (
          <Figure
            title="Errors per minute"
            data={byErrorClass(data)}
            asTable={asTable}
            shown={short}
            coloured={(_, index) => ["--error-solid", "--throttle-solid", "--pause-solid", "--wait-solid"][index % 4]!}
            none="No attempt has failed in the last hour."
            link={
              <Link to="/ops/attempts" search={{ outcome: "ERROR" }}>
                These errors
              </Link>
            }
          />
        )}
      </Loaded>
    </div>
  );
}

function Figures({ titles, children }: { titles: string[]; children: ReactNode }) {
  return titles.map((title) => (
    <div key={title} className={css.chart}>
      <div className={css.head}>
        <h3>{title}</h3>
      </div>
      {children}
    </div>
  ));
}

interface FigureProps {
  title: string;
  data: Lines;
  asTable: boolean;
  shown: (value: number) => string;
  named?: (name: string) => string;
  coloured?: (name: string, index: number) => string;
  none: string;
  link?: ReactNode;
}

function Figure({ title, data, asTable, shown, named = String, coloured, none, link }: FigureProps) {
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
      {data.lines.length === 0 ? (
        <p className={css.quiet}>{none}</p>
      ) : asTable ? (
        <Numbers title={title} data={data} names={names} shown={shown} />
      ) : (
        <Suspense fallback={<Skeleton height={HEIGHT} />}>
          <Chart data={data} colours={colours} names={names} shown={shown} />
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
  const rows = data.times
    .map((time, index) => ({ time, index }))
    .slice(-TABLE_ROWS)
    .reverse();
  const columns: Column<(typeof rows)[number]>[] = [
    { key: "time", title: "Time", cell: ({ time }) => clock(new Date(time * 1000)) },
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
  return <Table label={title} columns={columns} rows={rows} rowKey={({ time }) => String(time)} />;
}

function outcomeColour(name: string): string {
  return `--${name in STATUSES ? STATUSES[name as StatusName].tone : "wait"}-solid`;
}
