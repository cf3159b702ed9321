/** The detail of an audit entry, or another object of names and values: "1 → 3, note: late" for {"from": 1, "to": 3, "note": "late"}. */
export function detailWords(detail: unknown): string {
  if (detail === null || detail === undefined) return "";
  if (typeof detail !== "object" || Array.isArray(detail)) return said(detail);
  const { from, to, ...rest } = detail as Record<string, unknown>;
  const change = from !== undefined && to !== undefined ? [`${said(from)} → ${said(to)}`] : [];
  const others = Object.entries({
    ...rest,
    ...(change.length === 0 && from !== undefined && { from }),
    ...(change.length === 0 && to !== undefined && { to }),
  }).map(([name, value]) => `${name.replaceAll("_", " ")}: ${said(value)}`);
  return [...change, ...others].join(", ");
}

function said(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value) && value.every((each) => typeof each !== "object")) return value.join(", ");
  return JSON.stringify(value);
}
