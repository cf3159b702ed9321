import { Link } from "@tanstack/react-router";
import { type ItemPlace, itemSearch } from "./open-item";

/** The number of an item; a press opens it beside the list. */
export function ItemLink({ place }: { place: ItemPlace }) {
  return (
    <Link to="." search={(now) => ({ ...now, item: itemSearch(place) })}>
      {place.id}
    </Link>
  );
}
