import type { KeyboardEvent, ReactNode } from "react";
import type { ButtonProps } from "./button";
import { classes } from "./classes";
import css from "./menu.module.css";
import { Popover } from "./popover";

export interface MenuItem {
  label: ReactNode;
  icon?: ReactNode;
  onSelect?: () => void;
  href?: string;
  /** Why it cannot be chosen: it is shown, not hidden. */
  disabled?: string;
  danger?: boolean;
  shortcut?: string;
}

/** A button with a menu; null makes a line between entries. */
export function Menu({
  button,
  items,
  align,
}: {
  button: ButtonProps;
  items: (MenuItem | null)[];
  align?: "start" | "end";
}) {
  return (
    <Popover
      button={{ ...button, "aria-haspopup": "menu" }}
      align={align}
      content={{ role: "menu", onKeyDown: moveFocus }}
    >
      {(close) => (
        <div className={css.menu}>
          {items.map((item, index) =>
            item === null ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line has nothing else
              <div key={index} role="separator" className={css.line} />
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: entries of a menu do not move
              <Entry key={index} item={item} close={close} />
            ),
          )}
        </div>
      )}
    </Popover>
  );
}

function Entry({ item, close }: { item: MenuItem; close: () => void }) {
  const inside = (
    <>
      {item.icon}
      <span>
        {item.label}
        {item.disabled && <span className={css.why}>{item.disabled}</span>}
      </span>
      {item.shortcut && <kbd>{item.shortcut}</kbd>}
    </>
  );
  const className = classes(css.item, item.danger && css.danger);
  if (item.href && !item.disabled) {
    return (
      <a role="menuitem" className={className} href={item.href} onClick={close}>
        {inside}
      </a>
    );
  }
  return (
    <button
      type="button"
      role="menuitem"
      className={className}
      aria-disabled={item.disabled ? true : undefined}
      onClick={() => {
        if (item.disabled) return;
        close();
        item.onSelect?.();
      }}
    >
      {inside}
    </button>
  );
}

/** Arrow keys, Home and End move within the menu. */
export function moveFocus(event: KeyboardEvent<HTMLElement>) {
  const entries = [...event.currentTarget.querySelectorAll<HTMLElement>("[role^=menuitem], [role=option]")];
  const now = entries.indexOf(document.activeElement as HTMLElement);
  const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: entries.length - 1 }[event.key];
  if (next === undefined || entries.length === 0) return;
  event.preventDefault();
  entries[(next + entries.length) % entries.length]?.focus();
}
