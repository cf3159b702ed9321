import { Field } from "~/ui/field";

/** Days of this place, as `2026-05-17`: the first and the last. */
export interface Days {
  from?: string | undefined;
  to?: string | undefined;
}

/** The filter by the day of the last update. */
export function DateRange({ days, onChange }: { days: Days; onChange: (days: Days) => void }) {
  const field = (name: keyof Days, label: string) => (
    <Field
      label={label}
      type="date"
      value={days[name] ?? ""}
      onChange={(event) => onChange({ [name]: event.currentTarget.value || undefined })}
    />
  );
  return (
    <>
      {field("from", "From")}
      {field("to", "To")}
    </>
  );
}

/** The days as times for the API: the last day is meant as a whole. */
export function timesOf({ from, to }: Days): { from?: string; to?: string } {
  return { ...(from && { from: startOf(from) }), ...(to && { to: startOf(to, 1) }) };
}

/** The begin of a day of this place, or of a later one, as an instant. */
function startOf(day: string, later = 0): string {
  const begin = new Date(`${day}T00:00:00`);
  begin.setDate(begin.getDate() + later);
  return begin.toISOString();
}
