import type { Setting } from "~/api/admin";

/** What is not the default, as lines for a shell or a file `.env`. Secrets are left out: the server masks them. */
export function environment(settings: Setting[]): string {
  const lines = settings
    .filter((row) => row.source !== "default" && !row.isSecret && row.value !== null)
    .map((row) => `${row.variable}=${quoted(typeof row.value === "string" ? row.value : JSON.stringify(row.value))}`);
  return lines.join("\n") || "# everything is as by default";
}

/** As it is, or between single quotes if a shell would read it otherwise. */
export function quoted(value: string): string {
  return /^[\w@%+=:,./-]*$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
