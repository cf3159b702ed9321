/** A layered layout of steps: columns by the longest path, rows by where the parents are. */

export interface Vertex {
  name: string;
  after: string[];
  /** It begins when all items have ended: it stands behind the last steps of the items. */
  afterAll?: boolean | undefined;
}

export interface Placed<T extends Vertex> {
  vertex: T;
  column: number;
  /** A multiple of a half: a column with fewer steps is centred. */
  row: number;
}

export interface Layout<T extends Vertex> {
  placed: Placed<T>[];
  edges: { from: Placed<T>; to: Placed<T> }[];
  columns: number;
  rows: number;
}

const SWEEPS = 4;

export function layout<T extends Vertex>(vertices: T[]): Layout<T> {
  const known = new Map(vertices.map((vertex) => [vertex.name, vertex]));
  const needed = new Set(vertices.flatMap((vertex) => vertex.after));
  const last = vertices.filter((vertex) => !vertex.afterAll && !needed.has(vertex.name));
  const parents = (vertex: T) => {
    const own = vertex.after.filter((name) => known.has(name)).map((name) => known.get(name)!);
    return vertex.afterAll && own.length === 0 ? last : own;
  };
  const columnOf = longestPaths(vertices, parents);
  const columns: T[][] = [];
  for (const vertex of vertices) {
    const at = columnOf.get(vertex)!;
    while (columns.length <= at) columns.push([]);
    columns[at]!.push(vertex);
  }
  const children = new Map<T, T[]>(vertices.map((vertex) => [vertex, []]));
  for (const vertex of vertices) for (const parent of parents(vertex)) children.get(parent)!.push(vertex);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    arrange(columns, sweep % 2 === 0 ? parents : (vertex) => children.get(vertex)!, sweep % 2 === 1);
  }
  const rows = Math.max(0, ...columns.map((column) => column.length));
  const placed = new Map<T, Placed<T>>();
  columns.forEach((column, at) => {
    column.forEach((vertex, index) => {
      placed.set(vertex, { vertex, column: at, row: index + (rows - column.length) / 2 });
    });
  });
  const edges = vertices.flatMap((vertex) =>
    parents(vertex).map((parent) => ({ from: placed.get(parent)!, to: placed.get(vertex)! })),
  );
  return { placed: vertices.map((vertex) => placed.get(vertex)!), edges, columns: columns.length, rows };
}

/** The column of each: one more than the last of its parents. A graph of steps has no cycles. */
function longestPaths<T extends Vertex>(vertices: T[], parents: (vertex: T) => T[]): Map<T, number> {
  const found = new Map<T, number>();
  const visit = (vertex: T): number => {
    const column = found.get(vertex) ?? Math.max(-1, ...parents(vertex).map(visit)) + 1;
    found.set(vertex, column);
    return column;
  };
  vertices.forEach(visit);
  return found;
}

/** Order each column by the mean place of its neighbours in the column before. */
function arrange<T>(columns: T[][], neighbours: (vertex: T) => T[], isBackwards: boolean): void {
  const place = new Map<T, number>();
  const note = (column: T[]) => {
    column.forEach((vertex, index) => {
      place.set(vertex, index - column.length / 2);
    });
  };
  for (const column of isBackwards ? [...columns].reverse() : columns) {
    const weight = new Map<T, number>();
    column.forEach((vertex, index) => {
      const near = neighbours(vertex)
        .map((each) => place.get(each))
        .filter((each) => each !== undefined);
      const mean = near.reduce((sum, each) => sum + each, 0) / (near.length || 1);
      weight.set(vertex, near.length > 0 ? mean : index - column.length / 2);
    });
    column.sort((one, other) => weight.get(one)! - weight.get(other)!);
    note(column);
  }
}
