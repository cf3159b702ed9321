import type { ReactNode } from "react";
import { FIELD_TITLES, FIELDS, type Sheet } from "~/api/sheets";
import { bytes } from "~/format";
import { Facts } from "~/ui/facts";
import { Notice } from "~/ui/notice";
import { Section } from "~/ui/section";
import { sentence } from "~/words";
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
        <Section title="The file">
          <Facts facts={facts} />
        </Section>
        <Section title="Columns">
          <Facts
            facts={FIELDS.map((field) => [
              FIELD_TITLES[field],
              mapping[field] ?? (
                <span key={field} className="muted">
                  no column
                </span>
              ),
            ])}
          />
        </Section>
      </div>
    </div>
  );
}
