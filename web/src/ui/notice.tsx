import type { ReactNode } from "react";
import { classes } from "./classes";
import css from "./notice.module.css";
import { Shape } from "./shape";

interface NoticeProps {
  kind?: "error" | "info" | "warn";
  title: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
}

/** What failed, what was kept, what to do: it stands where the action was. */
export function Notice({ kind = "info", title, children, actions }: NoticeProps) {
  return (
    <div className={classes(css.notice, css[kind])} role={kind === "error" ? "alert" : undefined}>
      <Shape name={kind === "error" ? "octagon" : kind === "warn" ? "wrench" : "ring"} size={16} />
      <div className={css.text}>
        <strong>{title}</strong>
        {children && <div className="muted">{children}</div>}
        {actions && <div className="row">{actions}</div>}
      </div>
    </div>
  );
}

/** Nothing here: what it would be, and the one next action. */
export function Empty({ title, children, actions }: { title: ReactNode; children?: ReactNode; actions?: ReactNode }) {
  return (
    <div className={css.empty}>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {actions && <div className="row">{actions}</div>}
    </div>
  );
}
