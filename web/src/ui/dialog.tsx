import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";
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

/** A modal dialog: open while it is rendered. Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children, actions, wide, mustAnswer }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = ref.current!;
    if (!dialog.open) dialog.showModal();
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
