import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { queryClient } from "~/api/client";
import { type Item, isOpenItem, itemQuery, reprocess } from "~/api/items";
import { FIELD_TITLES } from "~/api/sheets";
import { whyQuery } from "~/api/why";
import { duration } from "~/format";
import { ItemActions } from "~/items/item-actions";
import { Said } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Facts } from "~/ui/facts";
import { Notice } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { Why } from "~/why/why";
import { sentence } from "~/words";
import { ProviderFirst } from "./provider-first";
import css from "./sheets.module.css";

/** A row: why it waits, its cells, how they were read, what was found, and each attempt. */
export function RowDetail({ jobId, row }: { jobId: string; row: number }) {
  const query = useQuery(itemQuery(jobId, String(row)));
  const isOpen = query.data !== undefined && isOpenItem(query.data);
  const why = useQuery({ ...whyQuery(jobId, String(row)), enabled: isOpen }); // drawn together: later it would move the rest
  const loading = <SkeletonRows rows={10} height={24} />;
  return (
    <Loaded query={query} what="The row" loading={loading}>
      {(item) => (isOpen && why.isPending ? loading : <ShownRow key={item.id} item={item} />)}
    </Loaded>
  );
}

type Values = Record<string, unknown>;

function valuesOf(data: unknown): Values {
  return typeof data === "object" && data !== null ? (data as Values) : {};
}

/** The match among the results of the steps. */
function matchOf(result: unknown): Values {
  const results = Object.values(valuesOf(result)).map(valuesOf);
  return results.find((each) => "provider" in each) ?? (isMatch(result) ? valuesOf(result) : {});
}

function isMatch(result: unknown): boolean {
  return "provider" in valuesOf(result);
}

function ShownRow({ item }: { item: Item }) {
  const found = matchOf(item.result);
  const { score, reasons, provider, strategy, ...fields } = found;
  const normalized = valuesOf(item.normalized);
  const isOpen = isOpenItem(item);
  const [wasOpen] = useState(isOpen);
  return (
    <div className={css.panel}>
      <div className="row">
        <Pill status={item.status} />
        {isOpen && <ItemActions item={item} />}
        <Link to="/jobs/$jobId/items/$n" params={{ jobId: item.jobId, n: item.id }}>
          All steps and attempts
        </Link>
      </div>
      {(wasOpen || isOpen) && <Why jobId={item.jobId} itemId={item.id} />}
      {item.error && (
        <Notice kind="error" title={sentence(item.error.reason ?? item.error.class ?? "It failed")}>
          {item.error.step && `In ${item.error.step}, attempt ${item.error.attempt ?? 1}.`}
        </Notice>
      )}
      {Object.keys(fields).length > 0 && (
        <Part title="Found">
          <p className="muted">
            {[provider, strategy && `by its ${strategy}`, score !== undefined && `score ${score}`]
              .filter(Boolean)
              .join(", ")}
          </p>
          <Facts facts={factsOf(fields, FIELD_TITLES)} />
          {typeof reasons === "string" && <p className="muted">{sentence(reasons)}</p>}
        </Part>
      )}
      <Again item={item} />
      <Part title="In the file">
        <Facts facts={factsOf(valuesOf(valuesOf(item.input).row))} />
      </Part>
      {Object.keys(normalized).length > 0 && (
        <Part title="As it was read">
          <Facts facts={factsOf(valuesOf(normalized.fields ?? normalized), FIELD_TITLES)} />
        </Part>
      )}
      {item.attempts.length > 0 && (
        <Part title="Attempts">
          <ul className={css.attempts}>
            {item.attempts.map((each) => (
              <li key={`${each.step} ${each.attempt} ${each.endedAt}`}>
                <Pill status={each.outcome} small />
                <span className="grow">
                  {each.step}, attempt {each.attempt}
                  {each.reason && <span className="muted">: {each.reason}</span>}
                </span>
                <span className="muted">
                  {duration((Date.parse(each.endedAt) - Date.parse(each.startedAt)) / 1000)}
                </span>
                <Time value={each.endedAt} />
              </li>
            ))}
          </ul>
        </Part>
      )}
    </div>
  );
}

function Again({ item }: { item: Item }) {
  const [providers, setProviders] = useState<string[]>([]);
  const run = useMutation({
    mutationFn: () =>
      reprocess(item.jobId, {
        scope: "items",
        itemIds: [item.id],
        statuses: ["DONE", "SKIPPED", "NOT_FOUND", "ERROR"],
        ...(providers.length > 0 && { providers }),
      }),
    onSuccess: () => {
      toast("The row is looked up again.");
      for (const noun of ["item", "job", "ribbon"]) void queryClient.invalidateQueries({ queryKey: [noun] });
    },
  });
  if (isOpenItem(item)) return null;
  return (
    <div className={css.again}>
      <ProviderFirst value={providers} onChange={setProviders} />
      <Button busy={run.isPending} onClick={() => run.mutate()}>
        Ask again
      </Button>
      <Said error={run.error} />
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={css.part}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** Values by name; those of our fields have the titles that the columns are mapped by. */
function factsOf(values: Values, titles: Record<string, string> = {}): [string, ReactNode][] {
  return Object.entries(values)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => [titles[name] ?? name, <Value key={name} value={value} />]);
}

function Value({ value }: { value: unknown }) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (!/^https?:\/\/\S+$/i.test(text)) return text;
  return (
    <a href={text} target="_blank" rel="noreferrer">
      {text}
    </a>
  );
}
