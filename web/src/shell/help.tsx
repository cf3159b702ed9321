import { Dialog } from "~/ui/dialog";
import { Check } from "~/ui/field";
import { shownKeys, useAllCommands } from "./commands";
import css from "./help.module.css";
import { setLook, useLook } from "./look";

export function Keys({ keys }: { keys: string[] }) {
  return (
    <>
      {keys.map((key, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a key may be pressed twice
        <kbd key={index}>{key}</kbd>
      ))}
    </>
  );
}

/** `?`: every key of this page, from the same list as the palette. */
export function Help({ onClose }: { onClose: () => void }) {
  const look = useLook();
  const commands = useAllCommands().filter((command) => command.keys);
  const groups = [...new Set(commands.map((command) => command.group))];
  return (
    <Dialog title="Keys" wide onClose={onClose}>
      <div className={css.groups}>
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl className={css.keys}>
              {commands
                .filter((command) => command.group === group)
                .map((command) => (
                  <div key={command.id}>
                    <dt>{command.title}</dt>
                    <dd>
                      <Keys keys={shownKeys(command.keys!)} />
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
      <Check
        label="Single keys do something (Ctrl K always does)"
        checked={look.keys !== "off"}
        onChange={(event) => setLook({ keys: event.target.checked ? undefined : "off" })}
      />
    </Dialog>
  );
}
