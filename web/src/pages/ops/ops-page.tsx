import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useIsAdmin } from "~/api/app";
import type { Whose } from "~/api/ops";
import { Page } from "~/shell/page";
import css from "./ops.module.css";

const PLACES = [
  { to: "/ops", title: "Health" },
  { to: "/ops/flow", title: "Flow", isAdmin: true },
  { to: "/ops/queues", title: "Queues" },
  { to: "/ops/lanes", title: "Lanes" },
  { to: "/ops/workers", title: "Workers", isAdmin: true },
  { to: "/ops/limits", title: "Limits", isAdmin: true },
  { to: "/ops/schedules", title: "Schedules" },
  { to: "/ops/attempts", title: "Attempts" },
  { to: "/ops/audit", title: "Audit" },
  { to: "/ops/storage", title: "Storage" },
] as const;

interface OpsPageProps {
  title: string;
  heading?: ReactNode;
  subtitle?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** The frame of the pages of operations, with links to the others. */
export function OpsPage({ children, ...rest }: OpsPageProps) {
  const isAdmin = useIsAdmin();
  return (
    <Page {...rest}>
      <nav aria-label="Operations" className={css.places}>
        {PLACES.filter((place) => isAdmin || !("isAdmin" in place)).map(({ to, title }) => (
          <Link key={to} to={to} className={css.place} activeOptions={{ exact: to === "/ops", includeSearch: false }}>
            {title}
          </Link>
        ))}
      </nav>
      {children}
    </Page>
  );
}

/** Whose work the pages show: administrators see that of all owners. */
export function useWhose(): Whose {
  return useIsAdmin() ? "all" : "me";
}
