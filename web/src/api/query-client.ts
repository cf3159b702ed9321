import {
  type InvalidateOptions,
  type InvalidateQueryFilters,
  type Query,
  QueryClient,
  type QueryKey,
} from "@tanstack/react-query";

/** A client that also asks again where the first answer is still under way. It may be older than the action after which
 * its caller invalidates, and invalidateQueries only waits for it. It is not cancelled: a page may wait for it. */
export class AppQueryClient extends QueryClient {
  override async invalidateQueries<TTaggedQueryKey extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<TTaggedQueryKey>,
    options: InvalidateOptions = {},
  ): Promise<void> {
    const early = options.cancelRefetch === false ? [] : this.withoutAnswer(filters);
    const again = early.map((query) => this.askAgain(query, filters?.refetchType ?? "active", options));
    await Promise.all([super.invalidateQueries(filters, options), ...again]);
  }

  private withoutAnswer<TTaggedQueryKey extends QueryKey>(filters?: InvalidateQueryFilters<TTaggedQueryKey>) {
    const asking = this.getQueryCache().findAll({ ...filters, fetchStatus: "fetching" });
    return asking.filter((query) => query.state.data === undefined);
  }

  /** After its first answer, whatever the others wait for. */
  private async askAgain(
    { promise, queryHash }: Query,
    refetchType: NonNullable<InvalidateQueryFilters["refetchType"]>,
    options: InvalidateOptions,
  ): Promise<void> {
    await Promise.allSettled([promise]);
    // One that has failed is shown as failed: whoever shows it says when it is asked for again.
    const hasAnswer = (query: Query) => query.queryHash === queryHash && query.state.data !== undefined;
    await super.invalidateQueries({ predicate: hasAnswer, refetchType }, options);
  }
}
