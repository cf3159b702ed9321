import type { BookmarkFilter } from "~/api/bookmarks";
import type { Schema } from "~/api/client";

/** What the URL of the list says about which bookmarks are shown. */
export interface Shown {
  q?: string;
  tag?: string[];
  category?: string;
  site?: string[];
  kind?: NonNullable<BookmarkFilter["kind"]>;
  status?: NonNullable<BookmarkFilter["status"]>;
  archived?: boolean;
  duplicates?: boolean;
}

export type Change = { [K in keyof Shown]?: Shown[K] | undefined };

/** The parameters of the URL as those of the API. */
export function filterOf({ q, tag, category, site, kind, status, archived, duplicates }: Shown): BookmarkFilter {
  return {
    ...(q && { q }),
    ...(tag && { tag }),
    ...(category && { categoryId: category }),
    ...(site && { site }),
    ...(kind && { kind }),
    ...(status && { status }),
    ...(archived && { archived }),
    ...(duplicates && { duplicates }),
  };
}

/** The same for a change of all that match. */
export function bulkFilterOf(shown: Shown): Schema<"BulkFilter"> {
  const { q, tag, categoryId, site, kind, status, archived, duplicates } = filterOf(shown);
  return {
    ...(q && { q }),
    ...(categoryId && { categoryId }),
    ...(tag && { tags: tag }),
    ...(site && { sites: site }),
    ...(kind && { kinds: kind }),
    ...(status && { statuses: status }),
    archived: archived ?? false,
    ...(duplicates && { duplicates }),
  };
}

export function isNarrowed(shown: Shown): boolean {
  const { q, tag, category, site, kind, status, duplicates } = shown;
  return [q, tag, category, site, kind, status, duplicates].some(Boolean);
}

/** What a query can have besides words, and what it means. */
export const OPERATORS = [
  ["tag:", "with a tag"],
  ["site:", "of a site"],
  ["kind:", "page, pdf, image, …"],
  ["category:", "in a category"],
  ["is:", "archived, duplicate, pending, error"],
] as const;
const KINDS = ["page", "pdf", "image", "file", "login", "captcha", "error"];
const STATES = ["archived", "duplicate", "pending", "error"];

export interface Known {
  tags: string[];
  sites: string[];
  categories: string[];
}

export interface Completion {
  /** The whole query after it was chosen. */
  query: string;
  label: string;
  detail?: string;
}

/** How the last word of a query can go on. */
export function completions(query: string, known: Known): Completion[] {
  const words = [...query.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].map(([word]) => word);
  const last = words.length > 0 && query.endsWith(words.at(-1)!) ? words.at(-1)! : "";
  const before = query.slice(0, query.length - last.length);
  const minus = last.startsWith("-") ? "-" : "";
  const word = last.slice(minus.length).toLowerCase();
  const [name, ...rest] = word.split(":");
  if (rest.length === 0) {
    return OPERATORS.filter(([operator]) => operator.startsWith(word) && !(minus && operator === "category:")).map(
      ([operator, detail]) => ({ query: `${before}${minus}${operator}`, label: `${minus}${operator}`, detail }),
    );
  }
  const values = { tag: known.tags, site: known.sites, category: known.categories, kind: KINDS, is: STATES }[
    name ?? ""
  ];
  const begun = rest.join(":").replaceAll('"', "");
  return (values ?? [])
    .filter((value) => value.toLowerCase().startsWith(begun))
    .slice(0, 8)
    .map((value) => {
      const said = `${minus}${name}:${/\s/.test(value) ? `"${value}"` : value}`;
      return { query: `${before}${said} `, label: said };
    });
}
