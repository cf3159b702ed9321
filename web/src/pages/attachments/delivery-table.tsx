import { Link } from "@tanstack/react-router";
import type { Delivery } from "~/api/attachments";
import { bytes } from "~/format";
import { type Column, Table } from "~/ui/list";
import { Pill } from "~/ui/pill";
import { Time } from "~/ui/time";
import { sentence } from "~/words";
import { VERDICTS } from "./words";

const COLUMNS: Column<Delivery>[] = [
  { key: "at", title: "Received", isClear: true, cell: ({ receivedAt }) => <Time value={receivedAt} /> },
  {
    key: "verdict",
    title: "Verdict",
    isClear: true,
    cell: ({ verdict }) => <Pill status={VERDICTS[verdict].status}>{VERDICTS[verdict].word}</Pill>,
  },
  { key: "source", title: "Sender", isClear: true, cell: ({ source }) => source },
  { key: "event", title: "Event", isClear: true, cell: ({ event }) => event ?? "" },
  { key: "reason", title: "Reason", isClear: true, cell: ({ reason }) => reason && sentence(reason) },
  { key: "bytes", title: "Size", number: true, cell: (row) => bytes(row.bytes) },
  { key: "ip", title: "From", cell: ({ ip }) => ip ?? "" },
  {
    key: "instance",
    title: "Instance",
    cell: ({ instanceId }) =>
      instanceId && (
        <Link to="/attachments/$id" params={{ id: instanceId }}>
          {instanceId}
        </Link>
      ),
  },
];

const OF_INSTANCE = COLUMNS.filter(({ key }) => key !== "instance");

interface DeliveryTableProps {
  deliveries: Delivery[];
  /** All of them announced the same instance, which is shown. */
  isOfInstance?: boolean;
}

/** Requests of senders, with what was thought of each. */
export function DeliveryTable({ deliveries, isOfInstance }: DeliveryTableProps) {
  const columns = isOfInstance ? OF_INSTANCE : COLUMNS;
  return <Table label="Requests of senders" columns={columns} rows={deliveries} rowKey={({ id }) => id} />;
}
