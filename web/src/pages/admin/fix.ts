/** What to do about a finding of `forebay doctor`: a command to copy, and the words besides. */
export interface Fix {
  command?: string;
  words?: string;
}

const COMMAND = /^((?:[A-Z_]+=\S+ )*(?:forebay|pip|apt-get|sudo) [^;(]+?)(?:,? (or .+)| \((.+)\))?$/;

export function fixOf(text: string): Fix {
  const found = COMMAND.exec(text);
  if (found) return { command: found[1]!, ...((found[2] ?? found[3]) && { words: (found[2] ?? found[3])! }) };
  const inside = /`((?:forebay|pip|apt-get|sudo) [^`]+)`/.exec(text)?.[1];
  return { words: text, ...(inside && { command: inside }) };
}

/** The queue that a finding is about, if it can be resumed with a button. */
export function pausedQueue(text: string | null): string | undefined {
  return /^forebay resume --queue (\S+)$/.exec(text ?? "")?.[1];
}

/** The page of the app where a kind of finding can be looked at. */
export const PAGES: Record<
  string,
  { to: "/ops" | "/ops/queues" | "/ops/workers" | "/ops/storage" | "/admin/settings"; title: string }
> = {
  queues: { to: "/ops/queues", title: "Queues" },
  workers: { to: "/ops/workers", title: "Workers" },
  versions: { to: "/ops/workers", title: "Workers" },
  health: { to: "/ops", title: "Health" },
  storage: { to: "/ops/storage", title: "Storage" },
  disk: { to: "/ops/storage", title: "Storage" },
  settings: { to: "/admin/settings", title: "Settings" },
};
