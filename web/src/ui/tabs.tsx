import { type KeyboardEvent, type ReactNode, useId } from "react";
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

/** Tabs and the chosen one's content. Which one is chosen belongs into the URL. */
export function Tabs<K extends string>({ label, tabs, value, onChange, children }: TabsProps<K>) {
  const id = useId();
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
      <div role="tablist" aria-label={label} className={css.tabs} onKeyDown={move}>
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
