const before = new Map<string, string>(); // of each page, by its list and its end, where it begins

const PAGE = 200;

/**
 * For lists that keep 2,000 rows and go on in both directions. Cursors only go forward: where a page began is remembered.
 */
export function bothWays<P extends { next: string | null }>(list: readonly unknown[]) {
  const name = JSON.stringify(list);
  return {
    initialPageParam: "",
    maxPages: 10,
    getNextPageParam: (page: P, _pages: P[], begin: string): string | undefined => {
      if (page.next) before.set(`${name} ${page.next}`, begin);
      return page.next ?? undefined;
    },
    getPreviousPageParam: (_page: P, _pages: P[], begin: string): string | undefined => before.get(`${name} ${begin}`),
  };
}

/** The parameters of a page of such a list. */
export function pageAt(begin: string): { pageSize: number; after?: string } {
  return { pageSize: PAGE, ...(begin && { after: begin }) };
}
