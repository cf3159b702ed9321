import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type ItemPlace, itemSearch, useOpenItem } from "./open-item";

/** The number of an item; a press opens it beside the list. */
export function ItemLink({ place }: { place: ItemPlace }) {
  return <OpeningLink place={place}>{place.id}</OpeningLink>;
}

/** Why an open item waits is told in its panel. */
export function WhyLink({ place }: { place: ItemPlace }) {
  return (
    <OpeningLink place={place} label={`Why does item ${place.id} wait?`}>
      Why?
    </OpeningLink>
  );
}

function OpeningLink({ place, label, children }: { place: ItemPlace; label?: string; children: ReactNode }) {
  const isOpen = useOpenItem().place !== undefined;
  return (
    <Link
      to="."
      search={(now) => ({ ...now, item: itemSearch(place) })}
      replace={isOpen}
      state={isOpen || { isOpened: true }}
      resetScroll={false}
      aria-label={label}
    >
      {children}
    </Link>
  );
}
