const before = new Map<string, string>(); // of each page, by its list and its end, where it begins; the newest last

const PAGE = 200;
const MOST_PAGES = 10_000; // a list that changes ends its pages elsewhere each time that it is asked for

/**
 * For lists that keep 2,000 rows and go on in both directions. Cursors only go forward: where a page began is remembered.
 */
export function bothWays<P extends { next: string | null }>(list: readonly unknown[]) {
  const name = JSON.stringify(list);
  return {
    initialPageParam: "",
    maxPages: 10,
    getNextPageParam: (page: P, _pages: P[], begin: string): string | undefined => {
      if (page.next) remember(`${name} ${page.next}`, begin);
      return page.next ?? undefined;
    },
    getPreviousPageParam: (_page: P, _pages: P[], begin: string): string | undefined => before.get(`${name} ${begin}`),
  };
}

function remember(end: string, begin: string): void {
  before.delete(end);
  before.set(end, begin);
  if (before.size > MOST_PAGES) before.delete(before.keys().next().value!);
}

/** The parameters of a page of such a list. */
export function pageAt(begin: string): { pageSize: number; after?: string } {
  return { pageSize: PAGE, ...(begin && { after: begin }) };
}
