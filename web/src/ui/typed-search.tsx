import { useEffect, useRef, useState } from "react";
import { Field } from "./field";

const TYPING_MS = 250;

interface TypedSearchProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  onSearch: (text: string | undefined) => void;
}

/** A field that searches when one stops typing. */
export function TypedSearch({ label, placeholder, value, onSearch }: TypedSearchProps) {
  const [typed, setTyped] = useState(value ?? "");
  const search = useRef(onSearch);
  search.current = onSearch;
  useEffect(() => setTyped(value ?? ""), [value]);
  useEffect(() => {
    const next = typed.trim() || undefined;
    if (next === value) return;
    const timer = setTimeout(() => search.current(next), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <Field
      label={label}
      hideLabel
      type="search"
      placeholder={placeholder}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
    />
  );
}
