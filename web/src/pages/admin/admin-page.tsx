import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useIsAdmin } from "~/api/app";
import { Page } from "~/shell/page";
import { Empty } from "~/ui/notice";
import css from "./admin.module.css";

const PLACES = [
  { to: "/admin", title: "Installation" },
  { to: "/admin/users", title: "Users" },
  { to: "/admin/invitations", title: "Invitations" },
  { to: "/admin/owners", title: "Owners" },
  { to: "/admin/settings", title: "Settings" },
] as const;

interface AdminPageProps {
  title: string;
  subtitle?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** The frame of the pages of administration, with links to the others. Its content is for administrators only. */
export function AdminPage({ children, ...rest }: AdminPageProps) {
  if (!useIsAdmin()) {
    return (
      <Page title={rest.title}>
        <Empty title="It is not here">There is nothing at this address, or it is not yours.</Empty>
      </Page>
    );
  }
  return (
    <Page {...rest}>
      <nav aria-label="Administration" className={css.places}>
        {PLACES.map(({ to, title }) => (
          <Link key={to} to={to} className={css.place} activeOptions={{ exact: true, includeSearch: false }}>
            {title}
          </Link>
        ))}
      </nav>
      {children}
    </Page>
  );
}
