import { startOfDay } from "~/format";
import { Field } from "~/ui/field";

/** Days where clocks are shown, as `2026-05-17`: the first and the last. */
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

const DAY = /^\d{4}-\d\d-\d\d$/;

/** The days as times for the API: the last day is meant as a whole. What is no day, which an address may have, filters nothing. */
export function timesOf({ from = "", to = "" }: Days): { from?: string; to?: string } {
  return {
    ...(DAY.test(from) && { from: startOfDay(from).toISOString() }),
    ...(DAY.test(to) && { to: startOfDay(to, 1).toISOString() }),
  };
}
