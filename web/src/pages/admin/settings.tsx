import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type Setting, settingsQuery } from "~/api/admin";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { classes } from "~/ui/classes";
import { Copy } from "~/ui/copy";
import { Check, Field } from "~/ui/field";
import { Filters } from "~/ui/filters";
import { type Column, Table } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { Prose } from "~/ui/prose";
import { SkeletonRows } from "~/ui/skeleton";
import css from "./admin.module.css";
import { AdminPage } from "./admin-page";
import { environment } from "./environment";

const route = getRouteApi("/admin/settings");

const COLUMNS: Column<Setting>[] = [
  {
    key: "name",
    title: "Variable",
    isClear: true,
    cell: (row) => <span className={css.variable}>{row.variable}</span>,
  },
  {
    key: "value",
    title: "Value",
    cell: (row) => <span className={classes(css.value, isChanged(row) && css.changed)}>{shown(row.value)}</span>,
  },
  { key: "default", title: "Default", cell: (row) => <span className={css.value}>{shown(row.default)}</span> },
  { key: "source", title: "From", cell: (row) => row.source },
  { key: "meaning", title: "Meaning", isClear: true, cell: (row) => <Prose text={row.meaning} /> },
];

export default function SettingsPage() {
  const { q, changed } = route.useSearch();
  const navigate = useNavigate({ from: "/admin/settings" });
  const query = useQuery(settingsQuery);
  return (
    <AdminPage
      title="Settings in force"
      subtitle="Of this API process. They are read at its start, from the environment and from .env."
    >
      <Filters>
        <Field
          label="Name or meaning"
          hideLabel
          type="search"
          placeholder="Name or meaning"
          value={q ?? ""}
          onChange={(event) =>
            void navigate({ search: (now) => ({ ...now, q: event.target.value || undefined }), replace: true })
          }
        />
        <Check
          label="Only what is not the default"
          checked={changed ?? false}
          onChange={(event) =>
            void navigate({ search: (now) => ({ ...now, changed: event.target.checked || undefined }), replace: true })
          }
        />
      </Filters>
      <Loaded query={query} what="The settings" loading={<SkeletonRows rows={12} height={32} />}>
        {({ settings }) => {
          const rows = settings.filter((row) => (!changed || isChanged(row)) && matches(row, q));
          return rows.length > 0 ? (
            <>
              <Table label="Settings" columns={COLUMNS} rows={rows} rowKey={(row) => row.variable} />
              <details>
                <summary>What is not the default, as environment variables</summary>
                <div className={css.card}>
                  <Copy text={environment(settings)} label="the variables" />
                </div>
              </details>
            </>
          ) : (
            <Empty
              title="No setting matches"
              actions={<Button onClick={() => void navigate({ search: {} })}>Show all</Button>}
            />
          );
        }}
      </Loaded>
    </AdminPage>
  );
}

function isChanged(row: Setting): boolean {
  return row.source !== "default";
}

function matches(row: Setting, q: string | undefined): boolean {
  const words = (q ?? "").toLowerCase().split(/\s+/);
  const text = `${row.variable} ${row.meaning}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function shown(value: unknown): string {
  if (value === null || value === "") return "not set";
  return typeof value === "string" ? value : JSON.stringify(value);
}
