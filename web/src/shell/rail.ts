import type { LucideIcon } from "lucide-react";
import { Workflow } from "lucide-react";
import type { AppInfo } from "~/api/app";

/** An entry of the rail. A page's folder exports its own in routes.ts. */
export interface RailEntry {
  to: string;
  title: string;
  icon: LucideIcon;
  /** The key after g. */
  key?: string;
  section: "content" | "work" | "operations";
  /** Its place in the section; those without one follow, by title. */
  order?: number;
  /** Shown if the server has this pipeline package, feature or role; without, always. */
  package?: string;
  feature?: string;
  isAdmin?: boolean;
  /** One of the entries of the bottom bar on a phone. */
  isMain?: boolean;
}

export const SECTIONS = ["content", "work", "operations"] as const;

/** The entries for this server and person; a pipeline without pages of its own gets the generic ones. */
export function entriesFor(app: AppInfo, known: RailEntry[]): RailEntry[] {
  const packages = new Set(app.pipelines.map((pipeline) => pipeline.package));
  const own = known.filter(
    (entry) =>
      (!entry.package || packages.has(entry.package)) &&
      (!entry.feature || app.features[entry.feature] === true) &&
      (!entry.isAdmin || app.me.role === "admin"),
  );
  const withPages = new Set(known.map((entry) => entry.package));
  const others = app.pipelines
    .filter((pipeline) => !pipeline.internal && !(pipeline.package && withPages.has(pipeline.package)))
    .map(
      (pipeline): RailEntry => ({
        to: `/pipelines/${pipeline.name}`,
        title: pipeline.title,
        icon: Workflow,
        section: "content",
      }),
    );
  const inOrder = [...own, ...others].sort(
    (one, other) => (one.order ?? 100) - (other.order ?? 100) || one.title.localeCompare(other.title),
  );
  return SECTIONS.flatMap((section) => inOrder.filter((entry) => entry.section === section));
}
