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
    const refetchType = filters?.refetchType ?? "active";
    await Promise.all([
      super.invalidateQueries(filters, options),
      ...early.map((query) => this.invalidateAfterAnswer(query, refetchType, options)),
    ]);
  }

  /** Ask again as soon as the first answer has come; the others may take longer. */
  private async invalidateAfterAnswer(
    query: Query,
    refetchType: InvalidateQueryFilters["refetchType"],
    options: InvalidateOptions,
  ): Promise<void> {
    await Promise.allSettled([query.promise]);
    // One that has failed is shown as failed: whoever shows it says when it is asked for again.
    if (query.state.data === undefined) return;
    await super.invalidateQueries({ predicate: (each) => each.queryHash === query.queryHash, refetchType }, options);
  }

  private withoutAnswer<TTaggedQueryKey extends QueryKey>(filters?: InvalidateQueryFilters<TTaggedQueryKey>) {
    const asking = this.getQueryCache().findAll({ ...filters, fetchStatus: "fetching" });
    return asking.filter((query) => query.state.data === undefined);
  }
}
