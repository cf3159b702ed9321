/** The geometry of the river: columns of bands whose heights are shares, and what flows between them. */

export interface Band {
  y: number;
  height: number;
}

const LEAST = 3; // a share that is too small to see is still drawn

/** Bands of one column, one below the other: together they fill the height, each by its share. Without any value all
 * are as small as can be. */
export function stacked(values: number[], height: number, gap: number): Band[] {
  const room = height - gap * Math.max(0, values.length - 1);
  const total = values.reduce((sum, value) => sum + value, 0);
  const isSmall = (value: number) => total === 0 || (value / total) * room < LEAST;
  const small = values.filter(isSmall).length;
  const rest = values.reduce((sum, value) => sum + (isSmall(value) ? 0 : value), 0);
  let y = 0;
  return values.map((value) => {
    const band = { y, height: isSmall(value) ? LEAST : (value / rest) * (room - small * LEAST) };
    y += (total === 0 ? room / values.length : band.height) + gap;
    return band;
  });
}

/** The parts of a band for flows of these sizes, from its top to its foot. */
export function parts(band: Band, values: number[]): Band[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  let y = band.y;
  return values.map((value) => {
    const height = total === 0 ? 0 : (value / total) * band.height;
    const part = { y, height };
    y += height;
    return part;
  });
}

/** The path of a flow from one band to another. */
export function flow(x1: number, from: Band, x2: number, to: Band): string {
  const middle = (x1 + x2) / 2;
  const [a, b] = [from.y + from.height, to.y + to.height];
  return [
    `M${x1} ${from.y}`,
    `C${middle} ${from.y} ${middle} ${to.y} ${x2} ${to.y}`,
    `L${x2} ${b}`,
    `C${middle} ${b} ${middle} ${a} ${x1} ${a}Z`,
  ].join(" ");
}
