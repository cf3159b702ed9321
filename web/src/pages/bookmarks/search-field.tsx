import { useEffect, useRef, useState } from "react";
import type { Category, Facets } from "~/api/bookmarks";
import { Button } from "~/ui/button";
import { Combobox } from "~/ui/combobox";
import css from "./bookmarks.module.css";
import { completions, OPERATORS } from "./filter";

interface SearchFieldProps {
  value: string | undefined;
  onSearch: (q: string | undefined) => void;
  facets: Facets | undefined;
  categories: Category[];
}

/** The query: words, and operators that are completed. Enter searches. */
export function SearchField({ value, onSearch, facets, categories }: SearchFieldProps) {
  const [text, setText] = useState(value ?? "");
  const field = useRef<HTMLDivElement>(null);
  useEffect(() => setText(value ?? ""), [value]);
  const known = {
    tags: facets?.tags.map((tag) => tag.value) ?? [],
    sites: facets?.sites.map((site) => site.value) ?? [],
    categories: categories.map((category) => category.name),
  };
  const offered = completions(text, known);
  const change = (typed: string) => {
    setText(typed);
    if (!typed.trim() && value) onSearch(undefined);
  };
  const begin = (operator: string) => {
    setText(`${text.trimEnd()} ${operator}`.trimStart());
    field.current?.querySelector("input")?.focus();
  };
  return (
    <div className={css.search}>
      <div className="grow" ref={field}>
        <Combobox
          label="Search bookmarks"
          hideLabel
          placeholder="Search titles, texts and pictures"
          value={text}
          onChange={change}
          choices={offered.map(({ label, detail }, index) => ({
            key: String(index),
            label,
            detail: <span className="muted">{detail}</span>,
          }))}
          onChoose={(choice) => {
            const query = offered[Number(choice.key)]?.query ?? text;
            setText(query);
            if (query.endsWith(" ")) onSearch(query.trim());
          }}
          onEnter={onSearch}
        />
        <p className={css.operators}>
          {OPERATORS.map(([operator, means]) => (
            <button key={operator} type="button" title={means} onClick={() => begin(operator)}>
              {operator}
            </button>
          ))}
          <span title="without the word">-word</span>
          <span title="these words in this order">"a phrase"</span>
        </p>
      </div>
      {value && (
        <Button look="plain" onClick={() => onSearch(undefined)}>
          Clear
        </Button>
      )}
    </div>
  );
}
