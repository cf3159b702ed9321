import { useApp } from "~/api/app";
import { type Look, setLook, useLook } from "~/shell/look";
import { entriesFor } from "~/shell/rail";
import { useStore } from "~/shell/store";
import { Check, Select } from "~/ui/field";
import { rail } from "~/whole";
import css from "./account.module.css";

const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];

/** How the app looks, here and in other browsers. */
export function LookTab() {
  const look = useLook();
  const app = useApp();
  const entries = entriesFor(app, useStore(rail));
  return (
    <div className={css.section}>
      <p className="muted">These choices belong to your account: other browsers have them, too.</p>
      <div className={css.form}>
        <Select
          label="Theme"
          value={look.theme ?? "system"}
          onChange={(value) => setLook({ theme: value === "system" ? undefined : value })}
          options={[
            { value: "system", label: "As the system" },
            { value: "light", label: "Light" },
            { value: "dark", label: "Dark" },
          ]}
        />
        <Select
          label="Density"
          hint="The height of rows; on touch screens they are always high enough."
          value={look.density ?? "normal"}
          onChange={(value) => setLook({ density: value === "normal" ? undefined : value })}
          options={[
            { value: "compact", label: "Compact" },
            { value: "normal", label: "Normal" },
            { value: "roomy", label: "Roomy" },
          ]}
        />
        <Select
          label="Time zone"
          hint="Of clocks and dates; lists have the time that has passed."
          value={look.zone ?? ""}
          onChange={(value) => setLook({ zone: value || undefined })}
          options={[
            { value: "", label: `That of the device: ${Intl.DateTimeFormat().resolvedOptions().timeZone}` },
            ...ZONES.map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") })),
          ]}
        />
        <Select
          label="Start page"
          hint="What the app opens with."
          value={look.start ?? "/"}
          onChange={(value) => setLook({ start: value === "/" ? undefined : value })}
          options={entries.map((entry) => ({ value: entry.to, label: entry.title }))}
        />
        <Check
          label="Narrow rail: icons only"
          checked={look.rail === "narrow"}
          onChange={(event) => setLook({ rail: event.target.checked ? "narrow" : undefined } satisfies Look)}
        />
        <Check
          label="Single keys do something, as g j for Jobs (press ? for all); Ctrl K always does"
          checked={look.keys !== "off"}
          onChange={(event) => setLook({ keys: event.target.checked ? undefined : "off" })}
        />
      </div>
    </div>
  );
}
