/** What a file of bookmarks has, counted before it is imported. The server reads it again, and exactly. */
export interface Preview {
  links: number;
  /** Links that are in the file more than once. */
  repeated: number;
  folders: number;
}

export function previewOf(text: string): Preview | undefined {
  const head = text.slice(0, 2000).trimStart().toLowerCase();
  if (head.startsWith("[") || head.startsWith("{")) return ofJson(text);
  if (/(^|,)"?url"?(,|$)/.test(head.split(/\r?\n/)[0] ?? "")) return ofCsv(text);
  if (head.startsWith("<") || head.includes("<a ")) return ofHtml(text);
  return undefined;
}

function counted(urls: string[], folders: Iterable<string>): Preview | undefined {
  if (urls.length === 0) return undefined;
  return { links: urls.length, repeated: urls.length - new Set(urls).size, folders: new Set(folders).size };
}

function ofHtml(text: string): Preview | undefined {
  const urls = [...text.matchAll(/<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi)];
  const folders = [...text.matchAll(/<h3[^>]*>([^<]*)<\/h3>/gi)].map(([, name]) => name!.trim());
  return counted(
    urls.map(([, double, single, bare]) => double ?? single ?? bare ?? ""),
    folders,
  );
}

function ofJson(text: string): Preview | undefined {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  const listed: unknown = Array.isArray(read) ? read : (read as { bookmarks?: unknown } | null)?.bookmarks;
  if (!Array.isArray(listed)) return undefined;
  const entries = listed.filter((each): each is { url?: unknown; category?: unknown } => Boolean(each));
  const folders = entries.map(({ category }) => category).filter((each) => typeof each === "string");
  return counted(
    entries.map((each) => String(typeof each === "string" ? each : each.url)),
    folders,
  );
}

/** One link a line; a line break within quotes is rare, and the server reads the file exactly. */
function ofCsv(text: string): Preview | undefined {
  const [first, ...lines] = text.split(/\r?\n/).filter((line) => line.trim());
  const column = first!.toLowerCase().replaceAll('"', "").split(",").indexOf("url");
  const cells = lines.map((line) => (line.match(/("([^"]|"")*"|[^,]*)(,|$)/g) ?? [])[column] ?? "");
  return counted(
    cells.map((cell) => cell.replace(/,$/, "").replaceAll('"', "")).filter((cell) => /^https?:/i.test(cell)),
    [],
  );
}
