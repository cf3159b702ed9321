import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ArrowDown, ArrowUp } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { queryClient, type Schema } from "~/api/client";
import { type Job, useSteerJob } from "~/api/jobs";
import {
  changeSheet,
  estimateQuery,
  keepPreset,
  type Provider,
  providersQuery,
  reread,
  type Sheet,
} from "~/api/sheets";
import { duration } from "~/format";
import { Said } from "~/shell/failed";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Check } from "~/ui/field";
import { Popover } from "~/ui/popover";
import { Skeleton } from "~/ui/skeleton";
import { plural } from "~/words";
import type { Mapping } from "./columns";
import { stateWords } from "./provider-words";
import css from "./sheets.module.css";

interface AskProps {
  sheet: Sheet;
  job: Job;
  mapping: Mapping;
  onChange: (mapping: Mapping) => void;
}

/** Where rows are looked up, in which order, which rows count as the same, and the start. */
export function Ask(props: AskProps) {
  const query = useQuery(providersQuery);
  return (
    <Loaded query={query} what="The providers" loading={<Skeleton height={120} />}>
      {({ providers }) => <Asked {...props} providers={providers.filter((each) => each.enabled)} />}
    </Loaded>
  );
}

function Asked({ sheet, job, mapping, onChange, providers }: AskProps & { providers: Provider[] }) {
  const names = inOrder(providers, mapping.providers ?? sheet.providers ?? []);
  const move = (from: number, by: number) => {
    const to = from + by;
    if (from < 0 || to < 0 || to >= names.length) return;
    const next = [...names];
    next.splice(to, 0, ...next.splice(from, 1));
    onChange({ ...mapping, providers: next });
  };
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
            onDrop={(dragged) => move(names.indexOf(dragged), index - names.indexOf(dragged))}
          />
        ))}
      </ol>
      {sheet.columns && sheet.kind !== "images" && <Duplicates sheet={sheet} job={job} mapping={mapping} />}
      <Start sheet={sheet} job={job} mapping={mapping} names={names} />
    </>
  );
}

type StartProps = Omit<AskProps, "onChange"> & { names: string[] };

/** The start, and what it will do. */
function Start({ sheet, job, mapping, names }: StartProps) {
  const navigate = useNavigate();
  const steer = useSteerJob(job.id);
  const estimate = useQuery({ ...estimateQuery(job.id, job.counters.total), enabled: sheet.readAt !== null });
  const start = useMutation({
    mutationFn: async () => {
      const change = { ...mapping, ...(mapping.providers && { providers: names }) };
      if (Object.keys(change).length > 0) await changeSheet(job.id, change);
      if (sheet.mapping) await keepPreset(job.id);
      if (job.state === "PAUSED") await steer.mutateAsync("resume");
      await queryClient.refetchQueries({ queryKey: ["job", job.id] }); // else the next page says that it waits for the start
    },
    onSuccess: () => void navigate({ to: "/sheets/$jobId", params: { jobId: job.id } }),
  });
  const hasStarted = job.state !== "PAUSED";
  const rows = `${plural(job.counters.total, "row")}${job.sealed ? "" : " so far"}`;
  return (
    <>
      <Said error={start.error} />
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
              ? `Looks up ${rows} at ${plural(names.length, "provider")}; ${paceWords(estimate.data)}.`
              : `The file is being read: ${rows}.`}
        </span>
      </div>
    </>
  );
}

function paceWords(estimate: Schema<"SheetEstimate"> | undefined): string {
  if (!estimate?.seconds) return "the pace is known once rows are looked up";
  const whose = estimate.pace === "own" ? "the pace of your last sheet" : "the present pace of all users";
  return `about ${duration(estimate.seconds)} at ${whose}`;
}

/** Which rows count as the same: of those only the first is looked up. Another choice reads the file again. */
function Duplicates({ sheet, job, mapping }: { sheet: Sheet; job: Job; mapping: Mapping }) {
  const navigate = useNavigate({ from: "/sheets/new" });
  const before = (sheet.options.key as string[] | undefined) ?? [];
  const [key, setKey] = useState(before);
  const isChanged = key.join("\n") !== before.join("\n");
  const take = useMutation({
    mutationFn: async () => {
      if (Object.keys(mapping).length > 0) await changeSheet(job.id, mapping);
      return reread(job.id, { key });
    },
    onSuccess: ({ jobId }) => void navigate({ search: { job: jobId }, replace: true }),
  });
  const toggle = (column: string) =>
    setKey(key.includes(column) ? key.filter((each) => each !== column) : [...key, column]);
  return (
    <div className="row">
      <span>
        {key.length > 0 ? `Of rows with the same ${key.join(" and ")}, the first counts.` : "Every row counts."}
      </span>
      <Popover button={{ look: "plain", children: "Duplicates", disabled: job.state !== "PAUSED" }}>
        <fieldset className={css.picker}>
          <legend>Rows are the same if they have the same</legend>
          {sheet.columns?.map((column) => (
            <Check key={column} label={column} checked={key.includes(column)} onChange={() => toggle(column)} />
          ))}
        </fieldset>
      </Popover>
      {isChanged && (
        <Button busy={take.isPending} disabled={!sheet.readAt} onClick={() => take.mutate()}>
          Read it like this
        </Button>
      )}
      <Said error={take.error} />
    </div>
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
  /** Another one was dragged to this place. */
  onDrop: (name: string) => void;
}

const DRAGGED = "text/x-provider";

function ProviderLine({ provider, isFirst, isLast, onMove, onDrop }: ProviderLineProps) {
  const press = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key] as 1 | -1 | undefined;
    if (!event.altKey || !by) return;
    event.preventDefault();
    onMove(by);
  };
  return (
    <li
      className={css.provider}
      draggable
      onKeyDown={press}
      onDragStart={(event) => event.dataTransfer.setData(DRAGGED, provider.name)}
      onDragOver={(event) => event.dataTransfer.types.includes(DRAGGED) && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        onDrop(event.dataTransfer.getData(DRAGGED));
      }}
    >
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
