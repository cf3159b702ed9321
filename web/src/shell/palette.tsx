import { Search } from "lucide-react";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { type Command, shownKeys, useAllCommands } from "./commands";
import { useFound } from "./found";
import { Keys } from "./help";
import { intentOf, intentWords } from "./intent";
import css from "./palette.module.css";

/** How well a command matches what was typed: 0 not at all. Words may be anywhere; the begin of a word counts more. */
export function score(title: string, typed: string): number {
  const said = title.toLowerCase();
  let total = 0;
  for (const word of typed.toLowerCase().split(/\s+/).filter(Boolean)) {
    const at = said.indexOf(word);
    if (at < 0) return 0;
    total += at === 0 ? 3 : /\W/.test(said[at - 1]!) ? 2 : 1;
  }
  return total || 1;
}

/** Commands in their groups, the best match first; ids appear once. */
export function found(commands: Command[], typed: string): Command[] {
  const seen = new Set<string>();
  const open = commands.filter((command) => !command.hidden && !seen.has(command.id) && seen.add(command.id));
  if (!typed.trim()) return open;
  return open
    .map((command) => ({ command, score: score(command.title, typed) }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score)
    .map((each) => each.command);
}

/** Ctrl K: go to, do, find. */
export function Palette({ onClose, onText }: { onClose: () => void; onText: (text: string) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const commands = useAllCommands();
  const things = useFound(typed);
  const known = useMemo(() => {
    const matching = found(commands, typed);
    const intent = intentOf(typed);
    if (intent.kind === "nothing") return matching;
    const own: Command = {
      id: "text",
      title: intentWords(intent).replace(/^Enter (.)/, (_, first: string) => first.toUpperCase()),
      group: "This text",
      run: () => onText(typed),
    };
    return intent.kind === "search" ? [...matching, own] : [own, ...matching];
  }, [commands, typed, onText]);
  const shown = [...known, ...things]; // last, because they come later: what Enter does is not changed by them

  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  useEffect(() => {
    list.current?.querySelector(`[data-at="${at}"]`)?.scrollIntoView({ block: "nearest" });
  }, [at]);

  const run = (command: Command | undefined) => {
    if (!command) return;
    dialog.current?.close();
    onClose();
    command.run();
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setAt((at + step + shown.length) % Math.max(1, shown.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(shown[at]);
    }
  };
  return (
    <dialog ref={dialog} className={css.dialog} aria-label="Commands" onClose={onClose}>
      <div className={css.field}>
        <Search aria-hidden="true" />
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={shown[at] ? `palette-${at}` : undefined}
          aria-label="Go to a page, or do something"
          placeholder="Go to a page, do something, or find"
          autoComplete="off"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
        <kbd aria-hidden="true">Esc</kbd>
      </div>
      <div id="palette-list" role="listbox" aria-label="Commands" className={css.list} ref={list}>
        {shown.map((command, index) => (
          <div key={command.id}>
            {!typed && command.group !== shown[index - 1]?.group && <div className={css.group}>{command.group}</div>}
            <div
              id={`palette-${index}`}
              data-at={index}
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              className={css.option}
              onPointerMove={() => setAt(index)}
              onPointerDown={(event) => {
                event.preventDefault();
                run(command);
              }}
            >
              {command.icon && <command.icon aria-hidden="true" />}
              <span className="cut">{command.title}</span>
              {command.detail && <span className={css.detail}>{command.detail}</span>}
              {command.keys && (
                <span className={css.keys} aria-hidden="true">
                  <Keys keys={shownKeys(command.keys)} />
                </span>
              )}
            </div>
          </div>
        ))}
        {shown.length === 0 && <div className={css.none}>Nothing is called that.</div>}
      </div>
    </dialog>
  );
}
