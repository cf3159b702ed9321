import { useQuery } from "@tanstack/react-query";
import { FIELD_TITLES, FIELDS, type Preset, presetQuery, previewQuery, type Sheet } from "~/api/sheets";
import { Button } from "~/ui/button";
import { Select } from "~/ui/field";
import { Notice } from "~/ui/notice";
import { Time } from "~/ui/time";
import { examplePrice, readPrice } from "./price-example";
import css from "./sheets.module.css";

/** What differs from the mapping of the sheet. */
export interface Mapping {
  columns?: Record<string, string | null>;
  decimalMark?: "." | ",";
  currency?: string;
  /** Providers in the order in which they are asked. */
  providers?: string[];
}

type FieldName = (typeof FIELDS)[number];
const CURRENCIES = ["EUR", "USD", "GBP", "CHF", "PLN", "SEK", "NOK", "DKK", "CZK", "JPY", "CNY"];

interface ColumnsProps {
  sheet: Sheet;
  changed: Mapping;
  onChange: (mapping: Mapping) => void;
}

/** Which column is which field. What was recognized is chosen already. */
export function Columns({ sheet, changed, onChange }: ColumnsProps) {
  const { data: preview } = useQuery(previewQuery(sheet.jobId, {}));
  const now = (field: FieldName) => {
    const chosen = changed.columns?.[field];
    return (chosen === undefined ? sheet.mapping?.[field] : chosen) ?? "";
  };
  const valuesOf = (column: string) => {
    const place = preview?.columns.indexOf(column) ?? -1;
    return [...new Set(preview?.rows.map((row) => row.cells[place] ?? "").filter(Boolean))];
  };
  const options = [
    { value: "", label: "no column" },
    ...(sheet.columns ?? []).map((column) => ({ value: column, label: column })),
  ];
  const hasNumber = now("gtin") || now("sku") || now("mpn");
  const mark = changed.decimalMark ?? (sheet.decimalMark === "," ? "," : ".");
  const currency = changed.currency ?? sheet.currency ?? "";
  return (
    <>
      <PresetOffer sheet={sheet} changed={changed} onUse={onChange} />
      <div className={css.fields}>
        {FIELDS.map((field) => {
          const column = now(field);
          const suggested = sheet.suggestions?.find((each) => each.field === field && each.column === column);
          return (
            <div key={field} className={css.field}>
              <Select
                label={FIELD_TITLES[field]}
                value={column}
                options={options}
                onChange={(value) => onChange({ ...changed, columns: { ...changed.columns, [field]: value || null } })}
                hint={suggested && `${suggested.reason}, score ${suggested.score.toFixed(2)}`}
              />
              <span className={css.samples}>{column && valuesOf(column).slice(0, 3).join(" · ")}</span>
            </div>
          );
        })}
      </div>
      {!now("title") && (
        <p className="muted">
          {hasNumber
            ? "Without a title, rows are looked up by their numbers only."
            : "Without a title or a number (SKU, GTIN, manufacturer’s number), no row can be looked up."}
        </p>
      )}
      {now("price") && (
        <div className={css.options}>
          <Select
            label="Decimal mark"
            value={mark}
            options={[
              { value: ".", label: "Point: 1,234.50" },
              { value: ",", label: "Comma: 1.234,50" },
            ]}
            onChange={(value) => onChange({ ...changed, decimalMark: value })}
            hint={exampleWords(valuesOf(now("price")), mark, now("currency") ? "" : currency)}
          />
          {!now("currency") && (
            <Select
              label="Currency of prices without one"
              value={currency}
              options={[
                { value: "", label: "not known" },
                ...[...new Set([...CURRENCIES, currency].filter(Boolean))].map((each) => ({
                  value: each,
                  label: each,
                })),
              ]}
              onChange={(value) => onChange({ ...changed, ...(value && { currency: value }) })}
            />
          )}
        </div>
      )}
    </>
  );
}

/** How a price of the file would be read: "1.234,50 → 1234.50 EUR". */
function exampleWords(values: string[], mark: "." | ",", currency: string): string {
  const example = examplePrice(values) ?? (mark === "," ? "1.234,50" : "1,234.50");
  const read = readPrice(example, mark);
  return read ? `${example} → ${read} ${currency}`.trim() : `${example} cannot be read so`;
}

interface PresetOfferProps {
  sheet: Sheet;
  changed: Mapping;
  onUse: (mapping: Mapping) => void;
}

/** The mapping of the last file with the same columns, if it differs from what is chosen. */
function PresetOffer({ sheet, changed, onUse }: PresetOfferProps) {
  const preset = useQuery(presetQuery(sheet.jobId)).data?.preset;
  if (!preset) return null;
  const taken = mappingOf(preset);
  const isChosen = FIELDS.every((field) => {
    const chosen = changed.columns?.[field];
    return ((chosen === undefined ? sheet.mapping?.[field] : chosen) ?? null) === taken.columns?.[field];
  });
  if (isChosen) return null;
  return (
    <Notice
      title="You have mapped a file with the same columns before."
      actions={<Button onClick={() => onUse({ ...changed, ...taken })}>Use that mapping</Button>}
    >
      It was used last <Time value={preset.usedAt} />:{" "}
      {Object.entries(preset.mapping)
        .map(([field, column]) => `${FIELD_TITLES[field as FieldName] ?? field} is ${column}`)
        .join(", ")}
      .
    </Notice>
  );
}

function mappingOf(preset: Preset): Mapping {
  return {
    columns: Object.fromEntries(FIELDS.map((field) => [field, preset.mapping[field] ?? null])),
    ...(preset.decimalMark && { decimalMark: preset.decimalMark === "," ? "," : "." }),
    ...(preset.currency && { currency: preset.currency }),
    ...(preset.providers && { providers: preset.providers }),
  };
}
