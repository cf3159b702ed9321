/** For lists whose pages name the next one. */
export const forward = {
  initialPageParam: "",
  getNextPageParam: (page: { next: string | null }): string | undefined => page.next ?? undefined,
};

/** The parameter of a page that begins there. */
export function pageFrom(begin: string): { after?: string } {
  return begin ? { after: begin } : {};
}
