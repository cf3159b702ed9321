import { Field } from "~/ui/field";

interface FilterFieldProps {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** A text of a filter: it goes into the URL when it is complete, by Enter or when the field is left. */
export function FilterField({ label, value, onChange }: FilterFieldProps) {
  return (
    <form
      key={value}
      onSubmit={(event) => {
        event.preventDefault();
        onChange(String(new FormData(event.currentTarget).get("value")).trim() || undefined);
      }}
    >
      <Field
        label={label}
        hideLabel
        name="value"
        type="search"
        placeholder={label}
        defaultValue={value ?? ""}
        onBlur={(event) => {
          const given = event.currentTarget.value.trim() || undefined;
          if (given !== value) onChange(given);
        }}
      />
    </form>
  );
}
