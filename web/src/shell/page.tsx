import { type ReactNode, useEffect } from "react";
import { classes } from "~/ui/classes";
import css from "./page.module.css";

interface PageProps {
  title: string;
  /** What the heading shows, if it is more than the title. */
  heading?: ReactNode;
  subtitle?: ReactNode;
  actions?: ReactNode;
  /** As wide as the window, for grids. */
  wide?: boolean;
  hideTitle?: boolean;
  children: ReactNode;
}

/** The frame of every page: one h1, which gets the focus after a change of page, and the title of the window. */
export function Page({ title, heading, subtitle, actions, wide, hideTitle, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – forebay`;
  }, [title]);
  return (
    <div className={classes(css.page, wide && css.wide)}>
      <div className={hideTitle ? "only-heard" : css.head}>
        <div className={css.title}>
          <h1 tabIndex={-1}>{heading ?? title}</h1>
          {subtitle && <div className="muted">{subtitle}</div>}
        </div>
        {actions && <div className={css.actions}>{actions}</div>}
      </div>
      {children}
    </div>
  );
}
