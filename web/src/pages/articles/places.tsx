import { Places } from "~/shell/places";

const PLACES = [
  { to: "/articles", title: "Articles", isExact: true },
  { to: "/articles/import", title: "Import" },
  { to: "/articles/embeddings", title: "Embeddings" },
];

export function ArticlePlaces() {
  return <Places label="Pages of articles" places={PLACES} />;
}
