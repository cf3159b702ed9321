import { Link } from "@tanstack/react-router";
import type { RailEntry } from "./rail";

interface RailLinkProps {
  entry: RailEntry;
  className: string;
  onClick?: () => void;
}

export function RailLink({ entry, className, onClick }: RailLinkProps) {
  return (
    <Link
      to={entry.to}
      className={className}
      activeOptions={{ exact: entry.to === "/" }}
      onClick={onClick}
      title={entry.key ? `${entry.title} (g ${entry.key})` : entry.title}
    >
      <entry.icon aria-hidden="true" />
      <span>{entry.title}</span>
    </Link>
  );
}
