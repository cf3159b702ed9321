import type { ReactNode } from "react";
import { useIsAdmin } from "~/api/app";
import type { Whose } from "~/api/ops";
import { Page } from "~/shell/page";
import { type Place, Places } from "~/shell/places";

const PLACES: (Place & { isAdmin?: boolean })[] = [
  { to: "/ops", title: "Health", isExact: true },
  { to: "/ops/flow", title: "Flow", isAdmin: true },
  { to: "/ops/queues", title: "Queues" },
  { to: "/ops/lanes", title: "Lanes" },
  { to: "/ops/workers", title: "Workers", isAdmin: true },
  { to: "/ops/controllers", title: "Controllers", isAdmin: true },
  { to: "/ops/limits", title: "Limits", isAdmin: true },
  { to: "/ops/schedules", title: "Schedules" },
  { to: "/ops/attempts", title: "Attempts" },
  { to: "/ops/audit", title: "Audit" },
  { to: "/ops/storage", title: "Storage" },
];

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
      <Places label="Operations" places={PLACES.filter((place) => isAdmin || !place.isAdmin)} />
      {children}
    </Page>
  );
}

/** Whose work the pages show: administrators see that of all owners. */
export function useWhose(): Whose {
  return useIsAdmin() ? "all" : "me";
}
