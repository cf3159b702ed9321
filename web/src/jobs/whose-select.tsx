import { Select } from "~/ui/field";

/** For administrators: the work of oneself, or of everybody. */
export function WhoseSelect({ owner, onChange }: { owner?: string | undefined; onChange: (owner?: string) => void }) {
  return (
    <Select
      label="Whose"
      value={owner ?? "me"}
      onChange={(value) => onChange(value === "me" ? undefined : value)}
      options={[
        { value: "me", label: "Mine" },
        { value: "all", label: "Everybody's" },
      ]}
    />
  );
}
