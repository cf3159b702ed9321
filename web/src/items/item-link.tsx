import { Link } from "@tanstack/react-router";
import { type ItemPlace, itemSearch, useOpenItem } from "./open-item";

/** The number of an item; a press opens it beside the list. */
export function ItemLink({ place }: { place: ItemPlace }) {
  const isOpen = useOpenItem().place !== undefined;
  return (
    <Link
      to="."
      search={(now) => ({ ...now, item: itemSearch(place) })}
      replace={isOpen}
      state={isOpen ? true : { isOpened: true }}
      resetScroll={false}
    >
      {place.id}
    </Link>
  );
}

/** Why an open item waits is told in its panel. */
export function WhyLink({ place }: { place: ItemPlace }) {
  return (
    <Link to="." search={(now) => ({ ...now, item: itemSearch(place) })} aria-label={`Why does item ${place.id} wait?`}>
      Why?
    </Link>
  );
}
