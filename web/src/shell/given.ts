import { urlIn } from "~/shell/intent";

export interface Given {
  url: string;
  title: string;
  note: string;
}

/** What the page was opened with: by the share menu in the query, by the bookmarklet in the fragment, which no server
 * sees. Some apps share the address as a part of the text. */
export function givenBy(search: { url?: string; title?: string; text?: string }, hash: string): Given {
  const fragment = new URLSearchParams(hash);
  const text = fragment.get("note") ?? search.text ?? "";
  const url = fragment.get("url") ?? search.url ?? text.split(/\s+/).map(urlIn).find(Boolean) ?? "";
  return {
    url,
    title: fragment.get("title") ?? search.title ?? "",
    note: text.trim() === url ? "" : text,
  };
}
