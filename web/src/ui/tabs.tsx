import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from "react";
import css from "./tabs.module.css";

export interface Tab<K extends string> {
  key: K;
  label: ReactNode;
  count?: ReactNode;
}

interface TabsProps<K extends string> {
  label: string;
  tabs: Tab<K>[];
  value: K;
  onChange: (key: K) => void;
  /** The content of the chosen tab. */
  children: ReactNode;
}

/** Tabs, of which the chosen one is in view, and its content. Which one is chosen belongs into the URL. */
export function Tabs<K extends string>({ label, tabs, value, onChange, children }: TabsProps<K>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chosen tab is looked for in the document
  useEffect(() => {
    const chosen = list.current!.querySelector<HTMLElement>("[aria-selected=true]");
    if (chosen)
      list.current!.scrollLeft =
        chosen.offsetLeft - list.current!.offsetLeft - (list.current!.clientWidth - chosen.offsetWidth) / 2;
  }, [value]);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const now = tabs.findIndex((tab) => tab.key === value);
    const next = tabs[(now + step + tabs.length) % tabs.length];
    if (!next) return;
    onChange(next.key);
    document.getElementById(`${id}-${next.key}`)?.focus();
  };
  return (
    <div className="stack">
      <div ref={list} role="tablist" aria-label={label} className={css.tabs} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.key}
            type="button"
            role="tab"
            id={`${id}-${tab.key}`}
            aria-selected={tab.key === value}
            aria-controls={`${id}-content`}
            tabIndex={tab.key === value ? 0 : -1}
            className={css.tab}
            onClick={() => onChange(tab.key)}
          >
            {tab.label}
            {tab.count !== undefined && <span className={css.count}>{tab.count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-content`} aria-labelledby={`${id}-${value}`}>
        {children}
      </div>
    </div>
  );
}
