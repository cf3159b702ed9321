import { useEffect, useRef } from "react";

const KEY = "forebay.places";
const MOST = 100;
const TOP = 96; // below the bars of the app
const REST_MS = 300;

/** How far each text was read: the number of the block that was at the top; the last ones that were read. */
type Places = [id: string, block: number][];

export function storedPlaces(): Places {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? (found as Places) : [];
  } catch {
    return [];
  }
}

/** A text that is at its begin needs no place. */
export function withPlace(places: Places, id: string, block: number): Places {
  const others = places.filter(([each]) => each !== id);
  return block > 0 ? [...others, [id, block] as [string, number]].slice(-MOST) : others;
}

/** The element of a text, which opens where it was left. */
export function useReadingPlace(id: string) {
  const article = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = storedPlaces().find(([each]) => each === id)?.[1];
    if (before) article.current?.children[before]?.scrollIntoView({ block: "start" });
    let resting: ReturnType<typeof setTimeout> | undefined;
    const keep = () => {
      const blocks = [...(article.current?.children ?? [])];
      const block = blocks.findIndex((each) => each.getBoundingClientRect().bottom > TOP);
      if (block >= 0) localStorage.setItem(KEY, JSON.stringify(withPlace(storedPlaces(), id, block)));
    };
    const scroll = () => {
      clearTimeout(resting);
      resting = setTimeout(keep, REST_MS);
    };
    document.addEventListener("scroll", scroll, { capture: true, passive: true });
    return () => {
      clearTimeout(resting);
      document.removeEventListener("scroll", scroll, { capture: true });
    };
  }, [id]);
  return article;
}
