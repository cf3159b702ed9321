import type { LucideIcon } from "lucide-react";
import { useEffect, useRef } from "react";
import { Store, useStore } from "./store";

/** Everything that can be done: the one list behind the palette, menus, tooltips, keys and the `?` sheet. */
export interface Command {
  id: string;
  title: string;
  /** What it is, beside the title. */
  detail?: string;
  /** "Go to", "Do", or the name of the page that it belongs to. */
  group: string;
  /** A key ("/"), keys in a row ("g h"), or with Ctrl or ⌘ ("mod+k"). */
  keys?: string;
  icon?: LucideIcon;
  run: () => void;
  /** Only a key: the palette does not list it. */
  hidden?: boolean;
}

const registered = new Store<ReadonlyMap<symbol, Command[]>>(new Map());

/** Offer commands while the component is shown. */
export function useCommands(commands: Command[]): void {
  const latest = useRef(commands);
  latest.current = commands;
  const shape = commands.map(({ id, title, keys }) => `${id} ${title} ${keys}`).join("|");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the commands are registered again when their shape changes
  useEffect(() => {
    const key = Symbol();
    const stable = latest.current.map((command, index) => ({
      ...command,
      run: () => (latest.current[index] ?? command).run(),
    }));
    registered.update((all) => new Map(all).set(key, stable));
    return () => {
      registered.update((all) => {
        const rest = new Map(all);
        rest.delete(key);
        return rest;
      });
    };
  }, [shape]);
}

/** All commands, those of the page first: a page's key goes before the shell's. */
export function allCommands(): Command[] {
  return [...registered.get().values()].reverse().flat();
}

export function useAllCommands(): Command[] {
  useStore(registered);
  return allCommands();
}

/** The keys as they are shown: "g h" → ["G", "H"], "mod+k" → ["Ctrl+K"]. */
export function shownKeys(keys: string): string[] {
  const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
  return keys
    .split(" ")
    .map((key) => key.replace("mod+", isMac ? "⌘" : "Ctrl+").replace(/[a-z]$/, (last) => last.toUpperCase()));
}
