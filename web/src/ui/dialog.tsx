import { X } from "lucide-react";
import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { Button } from "./button";
import { classes } from "./classes";
import css from "./dialog.module.css";

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** The buttons, the main one last. */
  actions?: ReactNode;
  wide?: boolean;
  /** A dialog that must be answered has no close button. */
  mustAnswer?: boolean;
}

const FIELD = "input:not([type=checkbox], [type=radio]), textarea";

/** A modal dialog: open while it is rendered. Its first field has the focus. Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children, actions, wide, mustAnswer }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Closed while it is still in the document: only then does the browser return the focus.
  useLayoutEffect(() => {
    const dialog = ref.current!;
    if (!dialog.open) dialog.showModal();
    dialog.querySelector<HTMLElement>(FIELD)?.focus(); // the browser would choose the close button
    return () => dialog.close();
  }, []);
  return (
    <dialog
      ref={ref}
      className={classes(css.dialog, wide && css.wide)}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className={css.head}>
        <h2 id={heading}>{title}</h2>
        {!mustAnswer && (
          <Button look="plain" icon aria-label="Close" onClick={onClose}>
            <X />
          </Button>
        )}
      </div>
      <div className={css.body}>{children}</div>
      {actions && <div className={css.foot}>{actions}</div>}
    </dialog>
  );
}
