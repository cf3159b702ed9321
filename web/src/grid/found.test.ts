import { describe, expect, it } from "vitest";
import { Found, type FoundPlace } from "./found";

/** Every tenth of 1,000 rows is found, at most five a page. */
function tens(start = 1) {
  const asked: FoundPlace[] = [];
  const found = new Found<number>((place) => {
    asked.push(place);
    if (place.before !== undefined) {
      const rows = all.filter((row) => row < place.before!).slice(-5);
      const previous = rows[0]! > 10 ? rows[0]! : null;
      return Promise.resolve({ rows, next: null, previous, searchedTo: previous ?? 1 });
    }
    const first = place.from ?? Number(place.after) + 1;
    const rows = all.filter((row) => row >= first).slice(0, 5);
    const next = rows.at(-1)! < 1000 ? String(rows.at(-1)) : null;
    return Promise.resolve({ rows, next, previous: null, searchedTo: rows.at(-1)! });
  }, start);
  return { found, asked };
}

const all = Array.from({ length: 100 }, (_, index) => (index + 1) * 10);
const turn = () => new Promise<void>((done) => setTimeout(done));
const rowsOf = (found: Found<number>) => Array.from({ length: found.count }, (_, index) => found.at(index));

describe("found rows", () => {
  it("are loaded as far as they are wanted", async () => {
    const { found, asked } = tens();
    found.want(0, 3);
    await turn();
    expect(rowsOf(found)).toEqual(all);
    expect([found.isComplete, found.prepended, asked[0]]).toEqual([true, 0, { from: 1 }]);
  });

  it("are loaded backward as well, when they begin in the middle", async () => {
    const { found, asked } = tens(905);
    found.want(0, 3);
    await turn();
    expect(asked.slice(0, 3)).toEqual([{ from: 905 }, { after: "950" }, { before: 905 }]);
    expect(rowsOf(found)).toEqual(all);
    expect([found.isComplete, found.prepended, found.searchedFrom, found.searchedTo]).toEqual([true, 90, 1, 1000]);
  });
});
