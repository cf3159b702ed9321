import type { ReactNode } from "react";
import { FIELDS, type Sheet } from "~/api/sheets";
import { bytes } from "~/format";
import { Notice } from "~/ui/notice";
import { sentence, statusWord } from "~/words";
import css from "./sheets.module.css";

const DELIMITERS: Record<string, string> = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar" };

/** How the file was read, and which column is which field. */
export function FileFacts({ sheet }: { sheet: Sheet }) {
  const facts: [string, ReactNode][] = [
    ["Name", sheet.name],
    ["Size", sheet.size === null ? null : bytes(sheet.size)],
    ["Source", sheet.source],
    ["Kind", sheet.kind?.toUpperCase()],
    ["Encoding", sheet.encoding],
    ["Delimiter", sheet.delimiter && (DELIMITERS[sheet.delimiter] ?? sheet.delimiter)],
    ["Worksheet", sheet.tab],
    ["Decimal mark", sheet.decimalMark === "," ? "comma" : sheet.decimalMark === "." ? "point" : null],
    ["Currency", sheet.currency],
    ["Providers first", sheet.providers?.join(", ")],
    ["Original", sheet.fileId && <a href={`/api/files/${sheet.fileId}/content`}>Download</a>],
  ];
  const mapping = sheet.mapping ?? {};
  return (
    <div className={css.section}>
      {sheet.warnings.map((warning) => (
        <Notice key={warning} kind="warn" title={sentence(warning)} />
      ))}
      <div className={css.halves}>
        <section className={css.section} aria-labelledby="facts-of-file">
          <h2 id="facts-of-file">The file</h2>
          <dl className={css.facts}>
            {facts.map(([name, value]) =>
              value ? (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ) : null,
            )}
          </dl>
        </section>
        <section className={css.section} aria-labelledby="fields-of-file">
          <h2 id="fields-of-file">Columns</h2>
          <dl className={css.facts}>
            {FIELDS.map((field) => (
              <div key={field}>
                <dt>{statusWord(field).replace(/\.$/, "")}</dt>
                <dd className={mapping[field] ? undefined : "muted"}>{mapping[field] ?? "no column"}</dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
    </div>
  );
}
