import { useEffect } from "react";
import { allCommands, type Command } from "./commands";
import { currentLook } from "./look";

const SEQUENCE_MS = 1200;

/** Whether the key belongs to what is focused. */
export function isInField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return (
    target instanceof HTMLInputElement &&
    !["checkbox", "radio", "button", "submit", "range", "file"].includes(target.type)
  );
}

/** Whether the focused control does something with the key by itself: Enter on a link, an arrow on a slider. */
export function isOwnKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (key === "Enter" || key === " ") return target.matches("a[href], button, summary");
  return /^(Arrow|Page|Home$|End$)/.test(key) && target.matches("input[type=range], input[type=radio]");
}

/** The command of a key press, given the keys before it; undefined: none, true: the begin of one. */
export function commandOf(commands: Command[], pressed: string[]): Command | true | undefined {
  const said = pressed.join(" ");
  const found = commands.find((command) => command.keys === said);
  return found ?? (commands.some((command) => command.keys?.startsWith(`${said} `)) || undefined);
}

function keyOf(event: KeyboardEvent): string | undefined {
  if (event.altKey) return undefined;
  if (event.ctrlKey || event.metaKey) return `mod+${event.key.toLowerCase()}`;
  return event.key;
}

/** Run commands by their keys. Keys without Ctrl or ⌘ do nothing in fields, under a dialog, or when switched off. */
export function useKeys(): void {
  useEffect(() => {
    let before: string[] = [];
    let last = 0;
    const press = (event: KeyboardEvent) => {
      const key = keyOf(event);
      if (!key || event.defaultPrevented || event.isComposing) return;
      const isSingle = !key.startsWith("mod+");
      const isOff = isInField(event.target) || currentLook().keys === "off" || document.querySelector("dialog[open]");
      if (isSingle && (isOff || isOwnKey(event.target, key))) return;
      const row = event.timeStamp - last < SEQUENCE_MS ? [...before, key] : [key];
      const found = commandOf(allCommands(), row) ?? commandOf(allCommands(), [key]);
      before = found === true ? row : [];
      last = event.timeStamp;
      if (typeof found === "object") {
        event.preventDefault();
        found.run();
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}
