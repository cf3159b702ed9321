import { useQuery } from "@tanstack/react-query";
import type { Schema } from "~/api/client";
import { storageQuery } from "~/api/ops";
import { bytes, exact } from "~/format";
import { Loaded } from "~/shell/trouble";
import { Amount } from "~/ui/amount";
import { type Column, Table } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import css from "./ops.module.css";
import { OpsPage, useWhose } from "./ops-page";

type OwnerStorage = Schema<"OwnerStorage">;

const OWNERS: Column<OwnerStorage>[] = [
  { key: "owner", title: "Owner", isClear: true, cell: (row) => row.owner },
  { key: "files", title: "Files", number: true, cell: (row) => <Amount value={row.files} /> },
  { key: "bytes", title: "Size", number: true, cell: (row) => <span className="nowrap">{bytes(row.bytes)}</span> },
  {
    key: "kinds",
    title: "Of these",
    cell: (row) =>
      row.kinds
        .slice(0, 4)
        .map((kind) => `${kind.kind} ${bytes(kind.bytes)}`)
        .join(", "),
  },
];

export default function StoragePage() {
  const query = useQuery(storageQuery(useWhose()));
  return (
    <OpsPage
      title="Storage"
      subtitle={
        query.data?.countedAt ? (
          <>
            Stored files, counted <Time value={query.data.countedAt} />; once an hour.
          </>
        ) : (
          "Stored files, counted once an hour."
        )
      }
    >
      <Loaded query={query} what="The storage" loading={<SkeletonRows rows={4} height={48} />}>
        {({ totals, owners }) => (
          <>
            {totals && <Totals totals={totals} />}
            {owners.length > 0 ? (
              <Table label="Storage by owner" columns={OWNERS} rows={owners} rowKey={(row) => row.owner} />
            ) : (
              <Empty title="No file is counted yet">
                Screenshots, sheets and exports are stored as files. A worker counts them once an hour.
              </Empty>
            )}
          </>
        )}
      </Loaded>
    </OpsPage>
  );
}

function Totals({ totals }: { totals: Schema<"StoreTotals"> }) {
  return (
    <div className={css.numbers}>
      <div className={css.number}>
        <strong>{bytes(totals.bytes)}</strong>
        <span>in {exact(totals.blobs)} stored contents</span>
      </div>
      <div className={css.number}>
        <strong>{bytes(totals.looseBytes)}</strong>
        <span>in {exact(totals.looseBlobs)} that no file names: they are deleted soon</span>
      </div>
      <div className={css.number}>
        <strong>{bytes(totals.wasteBytes)}</strong>
        <span>in {exact(totals.waste)} objects that are to be deleted</span>
      </div>
    </div>
  );
}
