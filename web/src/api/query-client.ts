import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient, type QueryKey } from "@tanstack/react-query";

/** A client that also asks again where the first answer is still under way. It may be older than the action after which
 * its caller invalidates, and invalidateQueries only waits for it. It is not cancelled: a page may wait for it. */
export class AppQueryClient extends QueryClient {
  override async invalidateQueries<TTaggedQueryKey extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<TTaggedQueryKey>,
    options: InvalidateOptions = {},
  ): Promise<void> {
    const early = options.cancelRefetch === false ? [] : this.withoutAnswer(filters);
    await super.invalidateQueries(filters, options);
    if (early.length === 0) return;
    await Promise.allSettled(early.map((query) => query.promise));
    // One that has failed is shown as failed: whoever shows it says when it is asked for again.
    const isEarly = new Set(early.filter((query) => query.state.data !== undefined).map((query) => query.queryHash));
    if (isEarly.size === 0) return;
    const refetchType = filters?.refetchType ?? "active";
    await super.invalidateQueries({ predicate: (query) => isEarly.has(query.queryHash), refetchType }, options);
  }

  private withoutAnswer<TTaggedQueryKey extends QueryKey>(filters?: InvalidateQueryFilters<TTaggedQueryKey>) {
    const asking = this.getQueryCache().findAll({ ...filters, fetchStatus: "fetching" });
    return asking.filter((query) => query.state.data === undefined);
  }
}
