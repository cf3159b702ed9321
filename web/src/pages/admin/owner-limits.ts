import type { changeOwner, Owner } from "~/api/admin";

export const LIMITS = [
  { name: "maxOpenJobs", field: "openJobs", label: "Open jobs" },
  { name: "maxOpenItems", field: "openItems", label: "Open items" },
  { name: "submitsPerMinute", field: "submitsPerMinute", label: "Submits a minute" },
] as const;

export type LimitName = (typeof LIMITS)[number]["name"];
export type LimitTexts = Record<LimitName, string>;

/** The owner's own limits as texts of fields; the limits of the settings are empty. */
export function limitTexts(owner: Owner): LimitTexts {
  const text = ({ most, isDefault }: Owner["openJobs"]) => (isDefault ? "" : String(most));
  return Object.fromEntries(LIMITS.map(({ name, field }) => [name, text(owner[field])])) as LimitTexts;
}

/** What has to be sent: only what was changed, and null for a limit that shall be that of the settings. */
export function limitChanges(owner: Owner, texts: LimitTexts): Parameters<typeof changeOwner>[1] {
  const before = limitTexts(owner);
  return Object.fromEntries(
    LIMITS.filter(({ name }) => texts[name].trim() !== before[name]).map(({ name }) => [
      name,
      texts[name].trim() === "" ? null : Number(texts[name]),
    ]),
  );
}
