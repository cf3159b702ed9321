import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import css from "./places.module.css";

export interface Place {
  to: string;
  title: string;
  /** Pages below it do not count as this one. */
  isExact?: boolean;
}

/** Links to the pages of a part of the app; the one that is open is in view, also on a narrow screen. */
export function Places({ label, places }: { label: string; places: Place[] }) {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    const nav = ref.current!;
    const open = nav.querySelector<HTMLElement>("[aria-current=page]");
    if (open) nav.scrollLeft = open.offsetLeft - nav.offsetLeft - nav.clientWidth / 2 + open.offsetWidth / 2;
  }, []);
  return (
    <nav ref={ref} aria-label={label} className={css.places}>
      {places.map(({ to, title, isExact }) => (
        <Link key={to} to={to} className={css.place} activeOptions={{ exact: isExact ?? false, includeSearch: false }}>
          {title}
        </Link>
      ))}
    </nav>
  );
}
