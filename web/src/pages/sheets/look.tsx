import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Preview, previewQuery, type ReadOptions, reread, type Sheet } from "~/api/sheets";
import { exact } from "~/format";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Select } from "~/ui/field";
import { Notice } from "~/ui/notice";
import { Skeleton } from "~/ui/skeleton";
import { plural } from "~/words";
import css from "./sheets.module.css";

const DELIMITERS = [
  { value: ",", label: "Comma" },
  { value: ";", label: "Semicolon" },
  { value: "\t", label: "Tab" },
  { value: "|", label: "Bar" },
];
const ENCODINGS = ["utf-8", "windows-1252", "utf-16", "iso-8859-1", "windows-1251", "shift_jis", "gb18030"];
const SHOWN = 12;

/** The first rows, and how the file is read. Another way of reading is tried here before it is taken. */
export function Look({ sheet }: { sheet: Sheet }) {
  const [options, setOptions] = useState<ReadOptions>({});
  const query = useQuery({ ...previewQuery(sheet.jobId, options), placeholderData: keepPreviousData });
  return (
    <Loaded query={query} what="The first rows" loading={<Skeleton height={320} />}>
      {(preview) => (
        <>
          <Options sheet={sheet} preview={preview} options={options} onChange={setOptions} />
          {query.isError && (
            <Notice kind="error" title="The file cannot be read so.">
              {query.error.message}
            </Notice>
          )}
          <Sample preview={preview} />
          <Unreadable preview={preview} />
        </>
      )}
    </Loaded>
  );
}

interface OptionsProps {
  sheet: Sheet;
  preview: Preview;
  options: ReadOptions;
  onChange: (options: ReadOptions) => void;
}

function Options({ sheet, preview, options, onChange }: OptionsProps) {
  const navigate = useNavigate({ from: "/sheets/new" });
  const take = useMutation({
    mutationFn: () => reread(sheet.jobId, options),
    onSuccess: ({ jobId }) => void navigate({ search: { job: jobId }, replace: true }),
  });
  const isChanged = Object.values(options).some((value) => value !== null && value !== undefined);
  const encoding = options.encoding ?? preview.encoding ?? "utf-8";
  const encodings = ENCODINGS.includes(encoding) ? ENCODINGS : [encoding, ...ENCODINGS];
  const delimiter = options.delimiter ?? preview.delimiter ?? ",";
  const delimiters = DELIMITERS.some((each) => each.value === delimiter)
    ? DELIMITERS
    : [...DELIMITERS, { value: delimiter, label: delimiter }];
  return (
    <div className={css.options}>
      {preview.kind === "csv" && (
        <>
          <Select
            label="Delimiter"
            value={delimiter}
            options={delimiters}
            onChange={(value) => onChange({ ...options, delimiter: value })}
          />
          <Select
            label="Encoding"
            value={encoding}
            options={encodings.map((each) => ({ value: each, label: each.toUpperCase() }))}
            onChange={(value) => onChange({ ...options, encoding: value })}
          />
        </>
      )}
      {preview.tabs && preview.tabs.length > 1 && (
        <Select
          label="Worksheet"
          value={options.sheet ?? preview.tab ?? ""}
          options={preview.tabs.map((each) => ({ value: each, label: each }))}
          onChange={(value) => onChange({ ...options, sheet: value })}
        />
      )}
      <Select
        label="First row"
        value={String(options.header ?? preview.hasHeader ?? true)}
        options={[
          { value: "true", label: "has the names of the columns" },
          { value: "false", label: "is a row like the others" },
        ]}
        onChange={(value) => onChange({ ...options, header: value === "true" })}
      />
      {isChanged && (
        <div className="row">
          <Button look="primary" busy={take.isPending} onClick={() => take.mutate()}>
            Read it like this
          </Button>
          <Button look="plain" onClick={() => onChange({})}>
            As it was
          </Button>
        </div>
      )}
      {take.error && <p role="alert">{take.error.message}</p>}
    </div>
  );
}

function Sample({ preview }: { preview: Preview }) {
  const { columns, rows, isAll } = preview;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div className={css.sample} tabIndex={0} role="region" aria-label="First rows">
        <table>
          <thead>
            <tr>
              <th scope="col">Line</th>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN).map(({ line, cells }) => (
              <tr key={line}>
                <td className="muted">{line}</td>
                {columns.map((column, index) => (
                  <td key={column}>{cells[index]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="muted">
        {plural(columns.length, "column")}.{" "}
        {isAll ? `All ${plural(rows.length, "row")} of the file` : `The first of more than ${exact(rows.length)} rows`}
        {rows.length > SHOWN && `, of which ${SHOWN} are shown`}.
      </p>
    </>
  );
}

function Unreadable({ preview: { unreadable } }: { preview: Preview }) {
  if (unreadable.length === 0) return null;
  return (
    <Notice kind="warn" title={`${plural(unreadable.length, "row")} of them cannot be read.`}>
      <ul>
        {unreadable.slice(0, 20).map(({ line, reason }) => (
          <li key={line}>
            Line {exact(line)}: {reason}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
