import type { Schema } from "~/api/client";

interface JobRecord {
  audit: Schema<"AuditRow">[];
  attempts: Schema<"Attempt">[];
}

const HEADER = ["at", "kind", "who", "what", "item", "attempt", "outcome", "reason"];

/** The actions and attempts of a job as one table, in the order of time. */
export function recordCsv({ audit, attempts }: JobRecord): string {
  const actions = audit.map((row) => [
    row.at,
    "action",
    row.actor,
    row.action,
    row.itemId ?? "",
    "",
    "",
    row.detail ? JSON.stringify(row.detail) : "",
  ]);
  const tries = attempts.map((row) => [
    row.endedAt,
    "attempt",
    row.worker,
    row.step,
    row.itemId,
    String(row.attempt),
    row.outcome,
    row.reason ?? "",
  ]);
  const rows = [...actions, ...tries].sort((a, b) => Date.parse(a[0]!) - Date.parse(b[0]!));
  return [HEADER, ...rows].map((row) => row.map(cell).join(",")).join("\r\n");
}

const FORMULA = /^'*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/;
const INNER_FORMULA = /([;\t])('*[=+\-@\uff1d\uff0b\uff0d\uff20])/g; // where some split cells

/** A cell, quoted where it must be; what a spreadsheet would run as a formula is escaped, as the API does in exports. */
function cell(text: string): string {
  const harmless = text.replace(INNER_FORMULA, "$1'$2").replace(FORMULA, "'$&");
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
