import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useIsAdmin } from "~/api/app";
import { type Level, type Overview, overviewQuery } from "~/api/ops";
import { clock, exact, rate } from "~/format";
import { useTopics } from "~/live";
import { useCommands } from "~/shell/commands";
import { Loaded } from "~/shell/trouble";
import { Amount } from "~/ui/amount";
import { Button } from "~/ui/button";
import { classes } from "~/ui/classes";
import { Prose } from "~/ui/prose";
import { Section } from "~/ui/section";
import { Shape, type ShapeName } from "~/ui/shape";
import { Skeleton } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { plural, sentence } from "~/words";
import { Charts } from "./charts";
import css from "./ops.module.css";
import { OpsPage, useWhose } from "./ops-page";
import { type Range, rangeOf, searchOf } from "./series";

const route = getRouteApi("/ops");
const SHAPES: Record<Level, ShapeName> = { OK: "check", WARN: "gauge", FAIL: "octagon" };
const WORDS: Record<Level, string> = { OK: "Yes", WARN: "Look at it", FAIL: "Act now" };

export default function HealthPage() {
  const { table, ...chosen } = route.useSearch();
  const range = rangeOf(chosen);
  const navigate = useNavigate({ from: "/ops" });
  const isAdmin = useIsAdmin();
  useTopics("overview");
  const query = useQuery(overviewQuery(useWhose()));
  const toggle = () => void navigate({ search: (now) => ({ ...now, table: table ? undefined : true }), replace: true });
  const setRange = (next: Range | undefined) =>
    void navigate({
      search: (now) => ({ ...now, from: undefined, to: undefined, ...(next && searchOf(next)) }),
      replace: range !== undefined,
      resetScroll: false,
    });
  useCommands(
    isAdmin
      ? [
          { id: "charts-table", title: "Charts as tables or back", group: "Health", keys: "t", run: toggle },
          ...(range
            ? [
                {
                  id: "charts-hour",
                  title: "The whole hour",
                  group: "Health",
                  keys: "Escape",
                  run: () => setRange(undefined),
                },
              ]
            : []),
        ]
      : [],
  );
  return (
    <OpsPage
      title="Operations"
      subtitle={
        query.data ? (
          <>
            As of <Time value={query.data.at} />
          </>
        ) : (
          "Looking at the system"
        )
      }
      actions={
        isAdmin && (
          <Button shortcut="t" aria-pressed={table ?? false} onClick={toggle}>
            {table ? "Show charts" : "Show as tables"}
          </Button>
        )
      }
    >
      <Loaded query={query} what="The state of the system" loading={<LoadingHealth />}>
        {(overview) => (
          <>
            <Verdict health={overview.health} />
            <Numbers overview={overview} isAdmin={isAdmin} />
            {isAdmin && (
              <Section
                title={range ? rangeWords(range) : "The last hour"}
                beside={
                  range ? (
                    <Button shortcut="Esc" onClick={() => setRange(undefined)}>
                      Show the whole hour
                    </Button>
                  ) : (
                    !table && <span className="muted">Drag over a chart to zoom in, or click a minute.</span>
                  )
                }
              >
                <Charts asTable={table ?? false} range={range} onRange={setRange} />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </OpsPage>
  );
}

function LoadingHealth() {
  return (
    <div role="status" className="stack">
      <span className="only-heard">Loading</span>
      <Skeleton height={144} />
      <div className={css.numbers}>
        {["waiting", "running", "rate", "failed", "workers"].map((name) => (
          <Skeleton key={name} height={84} />
        ))}
      </div>
    </div>
  );
}

function rangeWords({ from, to }: Range): string {
  const [first, end] = [clock(new Date(from * 1000)), clock(new Date(to * 1000))];
  return to - from <= 60 ? `The minute ${first}` : `From ${first} to ${end}`;
}

function Verdict({ health }: { health: Overview["health"] }) {
  return (
    <section className={classes(css.verdict, css[health.level])} aria-label="Health">
      <Sentences text={health.sentence} />
      <ul className={css.parts}>
        <Part name="Does work move?" {...health.flow} sentence={health.sentence} />
        <Part name="Does it succeed?" {...health.execution} sentence={health.sentence} />
        <Part name="Are workers there?" {...health.workers} sentence={health.sentence} />
      </ul>
      {health.ruledOut.length > 0 && <p className={css.side}>Ruled out: {sentence(health.ruledOut.join("; "))}</p>}
    </section>
  );
}

/** The first sentence is the headline: in bold, all of them would be read as none. */
function Sentences({ text }: { text: string }) {
  const end = text.indexOf(". ") + 1;
  return (
    <div>
      <p className={css.sentence}>
        <Prose text={end > 0 ? text.slice(0, end) : text} />
      </p>
      {end > 0 && (
        <p>
          <Prose text={text.slice(end + 1)} />
        </p>
      )}
    </div>
  );
}

interface PartProps {
  name: string;
  level: Level;
  text: string;
  sentence: string;
}

/** The answer to one question: a word, and its text unless the sentence above has it. */
function Part({ name, level, text, sentence: said }: PartProps) {
  return (
    <li className={classes(css.part, css[level])}>
      <Shape name={SHAPES[level]} size={16} />
      <span>
        <strong>{name}</strong>
        <span>{said.includes(text) ? WORDS[level] : <Prose text={text} />}</span>
      </span>
    </li>
  );
}

function Numbers({ overview, isAdmin }: { overview: Overview; isAdmin: boolean }) {
  const sum = (count: (step: Overview["steps"][number]) => number) =>
    overview.steps.reduce((total, step) => total + count(step), 0);
  const { alive, total } = overview.workers;
  return (
    <div className={css.numbers}>
      <Link to="/ops/queues" className={css.number}>
        <Value word="tasks wait">
          <Amount value={sum((step) => step.ready + step.scheduled)} />
        </Value>
      </Link>
      <Link to="/ops/queues" className={css.number}>
        <Value word="run now">
          <Amount value={sum((step) => step.processing)} />
        </Value>
      </Link>
      <Link to="/ops/lanes" className={css.number}>
        <Value word="attempts end">{rate(overview.tasksPerS ?? 0)}</Value>
      </Link>
      <Link to="/dead-letters" className={css.number}>
        <Value word="failed for good in an hour">
          <Amount value={overview.failedLastHour} />
        </Value>
      </Link>
      {isAdmin ? (
        <Link to="/ops/workers" className={css.number}>
          <Value word={`of ${plural(total, "worker runs", "workers run")}`}>{exact(alive)}</Value>
        </Link>
      ) : (
        <div className={css.number}>
          <Value word={alive === 1 ? "worker runs" : "workers run"}>{exact(alive)}</Value>
        </div>
      )}
    </div>
  );
}

function Value({ word, children }: { word: string; children: ReactNode }) {
  return (
    <>
      <strong>{children}</strong>
      <span>{word}</span>
    </>
  );
}
