/** What the box does with a text, before Enter is pressed. */
export type Intent =
  | { kind: "nothing" }
  | { kind: "save"; url: string }
  | { kind: "import"; urls: string[] }
  | { kind: "job"; id: string }
  | { kind: "search"; text: string };

const HOST = /^([a-z0-9-]+\.)+[a-z]{2,}(:\d+)?([/?#]|$)/i;

/** The URL that a text is; a host without a scheme counts, a word does not. */
export function urlIn(text: string): string | undefined {
  const said = text.trim();
  if (!said || /\s/.test(said)) return undefined;
  const full = /^https?:\/\//i.test(said) ? said : HOST.test(said) ? `https://${said}` : undefined;
  return full && URL.canParse(full) ? full : undefined;
}

export function intentOf(text: string): Intent {
  const said = text.trim();
  if (!said) return { kind: "nothing" };
  const job = /^#(\d{1,18})$/.exec(said);
  if (job) return { kind: "job", id: job[1]! };
  const lines = said.split(/\r?\n|\s+(?=https?:\/\/)/).filter((line) => line.trim());
  const urls = lines.map(urlIn).filter((url) => url !== undefined);
  if (urls.length > 1 && urls.length === lines.length) return { kind: "import", urls: [...new Set(urls)] };
  if (urls.length === 1 && lines.length === 1) return { kind: "save", url: urls[0]! };
  return { kind: "search", text: said };
}

/** What pressing Enter will do, as a line below the box. */
export function intentWords(intent: Intent): string {
  switch (intent.kind) {
    case "nothing":
      return "";
    case "save":
      return `Enter saves ${new URL(intent.url).hostname} as a bookmark`;
    case "import":
      return `Enter imports ${intent.urls.length} links as one job`;
    case "job":
      return `Enter opens job ${intent.id}`;
    case "search":
      return `Enter searches everything for “${intent.text.length > 40 ? `${intent.text.slice(0, 40)}…` : intent.text}”`;
  }
}

/** Where a dropped file belongs, by its name; undefined: nowhere. */
export function placeOf(name: string): "/sheets/new" | "/bookmarks/import" | "/articles/import" | undefined {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase();
  if (!ending) return undefined;
  if (["csv", "tsv", "txt", "xlsx", "xls", "xlsm", "ods", "zip", "gz"].includes(ending)) return "/sheets/new";
  if (["jpg", "jpeg", "png", "webp", "gif"].includes(ending)) return "/sheets/new";
  if (["html", "htm", "json"].includes(ending)) return "/bookmarks/import";
  if (["md", "markdown", "pdf"].includes(ending)) return "/articles/import";
  return undefined;
}
