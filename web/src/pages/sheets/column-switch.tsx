import { ChevronLeft, ChevronRight } from "lucide-react";
import type { useColumns } from "~/grid/columns";
import { Button } from "~/ui/button";
import { Select } from "~/ui/field";
import css from "./sheets.module.css";

/** On a phone, a row shows one column: this says which. */
export function ColumnSwitch({ columns }: { columns: ReturnType<typeof useColumns> }) {
  const { shown, single, setSingle } = columns;
  if (!single) return null;
  const at = shown.findIndex(({ key }) => key === single.key);
  const go = (by: 1 | -1) => {
    const next = shown[at + by];
    if (next) setSingle(next.key);
  };
  return (
    <div className={css.switch}>
      <Button look="plain" icon aria-label="Column before" disabled={at <= 0} onClick={() => go(-1)}>
        <ChevronLeft />
      </Button>
      <Select
        label="Column"
        hideLabel
        value={single.key}
        options={shown.map(({ key, title }) => ({ value: key, label: title }))}
        onChange={setSingle}
      />
      <Button look="plain" icon aria-label="Next column" disabled={at === shown.length - 1} onClick={() => go(1)}>
        <ChevronRight />
      </Button>
    </div>
  );
}
