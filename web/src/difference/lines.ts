const MOST_STEPS = 800; // above that, two texts have little in common: all of it is shown as changed
const AROUND = 3;

type Line = [sign: " " | "-" | "+", text: string];

/** How a text became another, as a unified difference by lines; empty if they are equal. */
export function unifiedLines(before: string, after: string): string {
  if (before === after) return "";
  const lines = compared(before.split("\n"), after.split("\n"));
  return folded(lines)
    .map(([sign, text]) => `${sign}${text}`)
    .join("\n");
}

/** All lines of both, each with its sign. */
export function compared(before: string[], after: string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let [end, other] = [before.length, after.length];
  while (end > start && other > start && before[end - 1] === after[other - 1]) {
    end -= 1;
    other -= 1;
  }
  const same = (text: string): Line => [" ", text];
  return [
    ...before.slice(0, start).map(same),
    ...middle(before.slice(start, end), after.slice(start, other)),
    ...before.slice(end).map(same),
  ];
}

/** The shortest way from one to the other (Myers): for each number of changes, how far each diagonal reaches. */
function middle(before: string[], after: string[]): Line[] {
  const [rows, columns] = [before.length, after.length];
  const reached: Map<number, number>[] = [];
  let far = new Map([[1, 0]]);
  for (let changes = 0; changes <= Math.min(rows + columns, MOST_STEPS); changes += 1) {
    const next = new Map<number, number>();
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      const [left, right] = [far.get(diagonal - 1) ?? -1, far.get(diagonal + 1) ?? -1];
      let x = diagonal === -changes || (diagonal !== changes && left < right) ? right : left + 1;
      let y = x - diagonal;
      if (x > rows || y > columns) continue;
      while (x < rows && y < columns && before[x] === after[y]) {
        x += 1;
        y += 1;
      }
      next.set(diagonal, x);
      if (x === rows && y === columns) return path(before, after, [...reached, next]);
    }
    reached.push(next);
    far = next;
  }
  return [...before.map((text): Line => ["-", text]), ...after.map((text): Line => ["+", text])];
}

function path(before: string[], after: string[], reached: Map<number, number>[]): Line[] {
  const lines: Line[] = [];
  let [x, y] = [before.length, after.length];
  for (let changes = reached.length - 1; changes > 0; changes -= 1) {
    const far = reached[changes - 1]!;
    const diagonal = x - y;
    const [left, right] = [far.get(diagonal - 1) ?? -1, far.get(diagonal + 1) ?? -1];
    const isAdded = diagonal === -changes || (diagonal !== changes && left < right);
    const from = isAdded ? right : left;
    const fromY = from - (isAdded ? diagonal + 1 : diagonal - 1);
    while (x > from + (isAdded ? 0 : 1) || y > fromY + (isAdded ? 1 : 0)) {
      if (x === 0 || y === 0) break;
      x -= 1;
      y -= 1;
      lines.push([" ", before[x]!]);
    }
    lines.push(isAdded ? ["+", after[fromY]!] : ["-", before[from]!]);
    [x, y] = [from, fromY];
  }
  while (x > 0) {
    x -= 1;
    lines.push([" ", before[x]!]);
  }
  return lines.reverse();
}

/** Without the lines that are far from any change. */
function folded(lines: Line[]): Line[] {
  const isNear = new Uint8Array(lines.length);
  lines.forEach(([sign], index) => {
    if (sign !== " ") isNear.fill(1, Math.max(0, index - AROUND), index + AROUND + 1);
  });
  return lines.flatMap((line, index): Line[] => {
    if (isNear[index]) return [line];
    return isNear[index - 1] || index === 0 ? [[" ", "…"]] : [];
  });
}
