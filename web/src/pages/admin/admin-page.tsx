import type { ReactNode } from "react";
import { Page } from "~/shell/page";
import { type Place, Places } from "~/shell/places";

const PLACES: Place[] = [
  { to: "/admin", title: "Installation", isExact: true },
  { to: "/admin/users", title: "Users" },
  { to: "/admin/invitations", title: "Invitations" },
  { to: "/admin/owners", title: "Owners" },
  { to: "/admin/settings", title: "Settings" },
];

interface AdminPageProps {
  title: string;
  subtitle?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** The frame of the pages of administration, with links to the others. */
export function AdminPage({ children, ...rest }: AdminPageProps) {
  return (
    <Page {...rest}>
      <Places label="Administration" places={PLACES} />
      {children}
    </Page>
  );
}
