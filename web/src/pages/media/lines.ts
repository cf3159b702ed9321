interface Line {
  start: number;
  text: string;
}

/** The line that is said at a second: the last that has begun; -1: none has. */
export function lineAt(lines: readonly Line[], second: number): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle]!.start <= second + 0.05) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The numbers of the lines that have all these words, in any case; without words, of all lines. */
export function matching(lines: readonly Line[], words: string): number[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return lines.flatMap(({ text }, at) => {
    const said = text.toLowerCase();
    return wanted.every((word) => said.includes(word)) ? at : [];
  });
}

/** A text in parts, of which some are the searched words. */
export function parts(text: string, words: string): { text: string; isFound: boolean; at: number }[] {
  const wanted = words.split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return [{ text, isFound: false, at: 0 }];
  const pattern = new RegExp(`(${wanted.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
  let at = 0;
  return text.split(pattern).flatMap((part, index) => {
    const from = at;
    at += part.length;
    return part ? { text: part, isFound: index % 2 === 1, at: from } : [];
  });
}
