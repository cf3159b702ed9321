import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Preview, previewQuery, type ReadOptions, reread, type Sheet } from "~/api/sheets";
import { exact } from "~/format";
import { Said } from "~/shell/failed";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Select } from "~/ui/field";
import { Notice } from "~/ui/notice";
import { Skeleton } from "~/ui/skeleton";
import { plural } from "~/words";
import { localPreviewQuery } from "./local-preview";
import css from "./sheets.module.css";

const DELIMITERS = [
  { value: ",", label: "Comma" },
  { value: ";", label: "Semicolon" },
  { value: "\t", label: "Tab" },
  { value: "|", label: "Bar" },
];
const ENCODINGS = ["utf-8", "windows-1252", "utf-16", "iso-8859-1", "windows-1251", "shift_jis", "gb18030"];
const SHOWN = 12;
const ROW_HEIGHT = 28;
const NO_FILE = new File([], "", { lastModified: 0 });

interface LookProps {
  sheet: Sheet;
  /** The file itself, while it is uploaded from this page. */
  file: File | undefined;
  options: ReadOptions;
  onOptions: (options: ReadOptions) => void;
}

/**
 * The first rows, and how the file is read. Another way of reading is tried here before it is taken. While the file is
 * on its way, the browser reads its beginning.
 */
export function Look({ sheet, file, options, onOptions }: LookProps) {
  const isHere = sheet.fileId !== null;
  const stored = useQuery({
    ...previewQuery(sheet.jobId, options),
    enabled: isHere,
    placeholderData: keepPreviousData,
  });
  const local = useQuery({
    ...localPreviewQuery(file ?? NO_FILE, options),
    enabled: file !== undefined && !stored.data,
    placeholderData: keepPreviousData,
  });
  const query = isHere && (stored.data || !local.data) ? stored : local;
  return (
    <Loaded query={query} what="The first rows" loading={<Skeleton height={320} />}>
      {(preview) => (
        <>
          <Options sheet={sheet} preview={preview} options={options} onChange={onOptions} isHere={isHere} />
          {query.isError && (
            <Notice kind="error" title="The file cannot be read so.">
              {query.error.message}
            </Notice>
          )}
          <Sample preview={preview} isHere={isHere} />
          {preview.rows.length > 0 && <Unreadable preview={preview} />}
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
  /** The whole file has come. */
  isHere: boolean;
}

function Options({ sheet, preview, options, onChange, isHere }: OptionsProps) {
  const navigate = useNavigate({ from: "/sheets/new" });
  const take = useMutation({
    mutationFn: () => reread(sheet.jobId, { options }),
    onSuccess: ({ jobId }) => {
      onChange({});
      void navigate({ search: { job: jobId }, replace: true });
    },
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
      {isHere && isChanged && (
        <div className="row">
          <Button look="primary" busy={take.isPending} onClick={() => take.mutate()}>
            Read it like this
          </Button>
          <Button look="plain" onClick={() => onChange({})}>
            As it was
          </Button>
        </div>
      )}
      <Said error={take.error} />
    </div>
  );
}

/** The first rows. It never becomes lower: what follows stays in its place while ways of reading are tried. */
function Sample({ preview, isHere }: { preview: Preview; isHere: boolean }) {
  const { columns, rows, isAll } = preview;
  const shown = Math.min(rows.length, SHOWN);
  const [most, setMost] = useState(shown);
  if (shown > most) setMost(shown);
  return (
    <>
      <div
        className={css.sample}
        style={{ minHeight: (most + 1) * ROW_HEIGHT + 2 }}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        role="region"
        aria-label="First rows"
      >
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
        {rows.length === 0 && <Unreadable preview={preview} />}
      </div>
      <p className="muted">
        {plural(columns.length, "column")}. {rowWords(rows.length, isAll)}
        {!isHere && " Your browser reads the beginning while the file is on its way; what you choose is offered again."}
      </p>
    </>
  );
}

function rowWords(count: number, isAll: boolean): string {
  if (count === 0) return "None of the first rows can be read.";
  const shown = count > SHOWN ? `, of which ${SHOWN} are shown` : "";
  return isAll
    ? `All ${plural(count, "row")} of the file${shown}.`
    : `The first of more than ${exact(count)} rows${shown}.`;
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
