import type { Hit } from "~/api/search";
import { things } from "~/shell/things";

/** The page of a hit; one in a recording begins at its second. */
export function placeOf({ kind, ref, path }: Pick<Hit, "kind" | "ref" | "path">): string | undefined {
  return path ?? things.get()[kind]?.(ref);
}

/** "Article" of the kind "article". */
export function kindWord(kind: string): string {
  const said = kind.replaceAll(/[_-]/g, " ");
  return said.charAt(0).toUpperCase() + said.slice(1);
}

/** 75 → "1:15", as players show it. */
export function secondWord(second: number): string {
  const [hours, minutes, seconds] = [Math.floor(second / 3600), Math.floor(second / 60) % 60, Math.floor(second % 60)];
  const two = (value: number) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}
