import { type ComponentProps, type ReactNode, useId, useRef } from "react";
import { Button, type ButtonProps } from "./button";
import css from "./popover.module.css";

export interface PopoverProps {
  /** The button that opens it. */
  button: Omit<ButtonProps, "ref">;
  align?: "start" | "end";
  children: ReactNode | ((close: () => void) => ReactNode);
  /** For menus, which have roles of their own. */
  content?: ComponentProps<"div">;
}

/** A button, and what opens below it. The browser closes it on Escape and on a click elsewhere. */
export function Popover({ button, align = "start", children, content }: PopoverProps) {
  const id = useId();
  const ref = useRef<HTMLDivElement>(null);
  const anchor = `--${id.replace(/[^a-z0-9]/gi, "")}`;
  const close = () => ref.current?.hidePopover();
  return (
    <>
      <Button {...button} popoverTarget={id} style={{ anchorName: anchor } as React.CSSProperties} />
      <div
        {...content}
        ref={ref}
        id={id}
        popover="auto"
        data-align={align}
        className={css.popover}
        style={{ positionAnchor: anchor } as React.CSSProperties}
      >
        {typeof children === "function" ? children(close) : children}
      </div>
    </>
  );
}
