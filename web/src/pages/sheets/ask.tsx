import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ArrowDown, ArrowUp } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { type Job, useSteerJob } from "~/api/jobs";
import { changeSheet, type Provider, providersQuery, type Sheet } from "~/api/sheets";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Skeleton } from "~/ui/skeleton";
import { plural } from "~/words";
import type { Mapping } from "./columns";
import { stateWords } from "./provider-words";
import css from "./sheets.module.css";

interface AskProps {
  sheet: Sheet;
  job: Job;
  mapping: Mapping;
}

/** Where rows are looked up, in which order, and the start. */
export function Ask({ sheet, job, mapping }: AskProps) {
  const query = useQuery(providersQuery);
  return (
    <Loaded query={query} what="The providers" loading={<Skeleton height={120} />}>
      {({ providers }) => (
        <Asked sheet={sheet} job={job} mapping={mapping} providers={providers.filter((each) => each.enabled)} />
      )}
    </Loaded>
  );
}

function Asked({ sheet, job, mapping, providers }: AskProps & { providers: Provider[] }) {
  const navigate = useNavigate();
  const steer = useSteerJob(job.id);
  const [order, setOrder] = useState<string[]>();
  const names = order ?? inOrder(providers, sheet.providers ?? []);
  const start = useMutation({
    mutationFn: async () => {
      const change = { ...mapping, ...(order && { providers: order }) };
      if (Object.keys(change).length > 0) await changeSheet(job.id, change);
      if (job.state === "PAUSED") await steer.mutateAsync("resume");
    },
    onSuccess: () => void navigate({ to: "/sheets/$jobId", params: { jobId: job.id } }),
  });
  const move = (from: number, by: number) => {
    const to = from + by;
    if (to < 0 || to >= names.length) return;
    const next = [...names];
    next.splice(to, 0, ...next.splice(from, 1));
    setOrder(next);
  };
  const hasStarted = job.state !== "PAUSED";
  const rows = `${plural(job.counters.total, "row")}${job.sealed ? "" : " so far"}`;
  return (
    <>
      <ol className={css.providers} aria-label="Providers in the order in which they are asked">
        {names.map((name, index) => (
          <ProviderLine
            key={name}
            provider={providers.find((each) => each.name === name)!}
            isFirst={index === 0}
            isLast={index === names.length - 1}
            onMove={(by) => move(index, by)}
          />
        ))}
      </ol>
      {start.error && <p role="alert">{start.error.message}</p>}
      <div className="row">
        <Button
          look="primary"
          busy={start.isPending}
          disabled={hasStarted || !sheet.readAt}
          onClick={() => start.mutate()}
        >
          Start
        </Button>
        <span role="status">
          {hasStarted
            ? "It has been started."
            : sheet.readAt
              ? `Looks up ${rows} at ${plural(names.length, "provider")}.`
              : `The file is being read: ${rows}.`}
        </span>
      </div>
    </>
  );
}

/** Those that the sheet names first, then the others by their priority. */
function inOrder(providers: Provider[], first: string[]): string[] {
  const names = [...providers].sort((a, b) => a.priority - b.priority).map((each) => each.name);
  return [...first.filter((name) => names.includes(name)), ...names.filter((name) => !first.includes(name))];
}

interface ProviderLineProps {
  provider: Provider;
  isFirst: boolean;
  isLast: boolean;
  onMove: (by: 1 | -1) => void;
}

function ProviderLine({ provider, isFirst, isLast, onMove }: ProviderLineProps) {
  const press = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key] as 1 | -1 | undefined;
    if (!event.altKey || !by) return;
    event.preventDefault();
    onMove(by);
  };
  return (
    <li className={css.provider} onKeyDown={press}>
      <span className="grow">
        <strong>{provider.name}</strong> <span className="muted">{stateWords(provider)}</span>
      </span>
      <Button
        look="plain"
        icon
        aria-label={`Ask ${provider.name} earlier`}
        shortcut="Alt+↑"
        disabled={isFirst}
        onClick={() => onMove(-1)}
      >
        <ArrowUp />
      </Button>
      <Button
        look="plain"
        icon
        aria-label={`Ask ${provider.name} later`}
        shortcut="Alt+↓"
        disabled={isLast}
        onClick={() => onMove(1)}
      >
        <ArrowDown />
      </Button>
    </li>
  );
}
