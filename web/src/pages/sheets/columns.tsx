import { useQuery } from "@tanstack/react-query";
import { FIELDS, previewQuery, type Sheet } from "~/api/sheets";
import { Select } from "~/ui/field";
import css from "./sheets.module.css";

/** What differs from the mapping of the sheet. */
export interface Mapping {
  columns?: Record<string, string | null>;
  decimalMark?: "." | ",";
  currency?: string;
}

type FieldName = (typeof FIELDS)[number];
const TITLES: Record<FieldName, string> = {
  title: "Title",
  brand: "Brand",
  sku: "SKU",
  mpn: "Manufacturer’s number",
  gtin: "GTIN, EAN or UPC",
  price: "Price",
  currency: "Currency",
  quantity: "Quantity",
  url: "Link",
  image: "Picture",
  description: "Description",
  category: "Category",
};
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
  const samples = (column: string) => {
    const place = preview?.columns.indexOf(column) ?? -1;
    const values = preview?.rows.map((row) => row.cells[place]).filter(Boolean) ?? [];
    return [...new Set(values)].slice(0, 3).join(" · ");
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
      <div className={css.fields}>
        {FIELDS.map((field) => {
          const column = now(field);
          const suggested = sheet.suggestions?.find((each) => each.field === field && each.column === column);
          return (
            <div key={field} className={css.field}>
              <Select
                label={TITLES[field]}
                value={column}
                options={options}
                onChange={(value) => onChange({ ...changed, columns: { ...changed.columns, [field]: value || null } })}
                hint={suggested && `${suggested.reason}, score ${suggested.score.toFixed(2)}`}
              />
              <span className={css.samples}>{column && samples(column)}</span>
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
            hint={`${mark === "," ? "1.234,50" : "1,234.50"} → 1234.50 ${currency}`}
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
