import { useQuery } from "@tanstack/react-query";
import { providersQuery } from "~/api/sheets";
import { Select } from "~/ui/field";

interface ProviderFirstProps {
  value: string[];
  onChange: (providers: string[]) => void;
}

/** Which provider is asked first. */
export function ProviderFirst({ value, onChange }: ProviderFirstProps) {
  const { data } = useQuery(providersQuery);
  const known = (data?.providers ?? []).filter((provider) => provider.enabled);
  return (
    <Select
      label="Provider to ask first"
      value={value[0] ?? ""}
      onChange={(name) => onChange(name ? [name] : [])}
      options={[
        { value: "", label: "In the order of the sheet" },
        ...known.map(({ name, state, closedBecause }) => ({
          value: name,
          label: state === "closed" ? `${name} (closed: ${closedBecause ?? "it does not answer"})` : name,
        })),
      ]}
    />
  );
}
