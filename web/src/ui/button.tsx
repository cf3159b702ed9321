import type { ComponentProps, ReactNode } from "react";
import css from "./button.module.css";
import { classes } from "./classes";

export type Look = "normal" | "primary" | "danger" | "plain";

export interface ButtonProps extends Omit<ComponentProps<"button">, "className"> {
  look?: Look;
  /** A request is on its way: the button shows it and cannot be pressed again. */
  busy?: boolean;
  /** An icon only: `aria-label` names it, and is its tooltip. */
  icon?: boolean;
  /** The key that does the same; it stands in the tooltip. */
  shortcut?: string;
  children?: ReactNode;
}

export function Button({ look = "normal", busy, icon, shortcut, title, onClick, children, ...rest }: ButtonProps) {
  const named = title ?? (icon ? rest["aria-label"] : undefined);
  const tip = shortcut ? [named, `(${shortcut})`].filter(Boolean).join(" ") : named;
  return (
    <button
      type="button"
      {...rest}
      title={tip}
      aria-keyshortcuts={shortcut}
      // Not `disabled`: a button that is disabled loses the focus.
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={buttonClass(look, { icon, busy })}
    >
      {children}
    </button>
  );
}

/** The same look for a link: `<Link className={buttonClass("primary")}>`. */
export function buttonClass(look: Look = "normal", more: { icon?: boolean; busy?: boolean } = {}): string {
  return classes(css.button, look !== "normal" && css[look], more.icon && css.icon, more.busy && css.busy);
}
