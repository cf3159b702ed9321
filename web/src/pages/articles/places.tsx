import { Places } from "~/shell/places";

const PLACES = [{ to: "/articles", title: "Articles", isExact: true }];

export function ArticlePlaces() {
  return PLACES.length > 1 ? <Places label="Pages of articles" places={PLACES} /> : null;
}
