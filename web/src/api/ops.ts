import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { onLive } from "~/live/apply";
import { api, queryClient, type Schema, take } from "./client";
import { forward, pageFrom } from "./pages";

export type Overview = Schema<"Overview">;
export type StepDepth = Schema<"StepDepth">;
export type Worker = Schema<"WorkerStatus">;
export type Lanes = Schema<"LaneList">;
export type OwnerShare = Schema<"OwnerShare">;
export type Series = Schema<"Series">;
export type DepthSeries = Schema<"DepthSeries">;
export type ControllerList = Schema<"ControllerList">;
export type StepController = Schema<"StepController">;
export type OwnerSeriesList = Schema<"OwnerSeriesList">;
export type Schedule = Schema<"Schedule">;
export type Level = Schema<"Health">["level"];

export type Whose = "me" | "all";

const WATCHED_MS = 30_000; // no event tells of these

/** Health, depth, lanes and workers at a glance; the stream keeps it fresh. */
export function overviewQuery(userId: Whose) {
  return queryOptions({
    queryKey: ["overview", userId],
    queryFn: ({ signal }) => take(api.GET("/api/overview", { params: { query: { userId } }, signal })),
    meta: { live: true },
  });
}

export function lanesQuery(userId: Whose) {
  return queryOptions({
    queryKey: ["lanes", userId],
    queryFn: ({ signal }) => take(api.GET("/api/lanes", { params: { query: { userId, limit: 200 } }, signal })),
    refetchInterval: WATCHED_MS,
  });
}

export const workersQuery = queryOptions({
  queryKey: ["workers"],
  queryFn: ({ signal }) => take(api.GET("/api/workers", { signal })),
  refetchInterval: WATCHED_MS,
});

/** The attempts of the last hour by minute and step; the server counts them twice a minute. */
export const seriesQuery = queryOptions({
  queryKey: ["series"],
  queryFn: ({ signal }) => take(api.GET("/api/series", { signal })),
  refetchInterval: 30_000,
});

export const depthSeriesQuery = queryOptions({
  queryKey: ["series", "depth"],
  queryFn: ({ signal }) => take(api.GET("/api/series/depth", { signal })),
  refetchInterval: 30_000,
});

/** How the owners shared the workers, by minute. */
export const ownerSeriesQuery = queryOptions({
  queryKey: ["series", "owners"],
  queryFn: ({ signal }) => take(api.GET("/api/series/owners", { signal })),
  refetchInterval: 30_000,
});

/** What the controllers of the steps decide; the workers report it every few seconds, samples are taken by minute. */
export const controllersQuery = queryOptions({
  queryKey: ["controllers"],
  queryFn: ({ signal }) => take(api.GET("/api/controllers", { signal })),
  refetchInterval: WATCHED_MS,
});

export const limitsQuery = infiniteQueryOptions({
  queryKey: ["limits"],
  queryFn: ({ signal, pageParam }) => take(api.GET("/api/limits", { params: { query: pageFrom(pageParam) }, signal })),
  ...forward,
  refetchInterval: WATCHED_MS,
});

export const hostsQuery = infiniteQueryOptions({
  queryKey: ["hosts"],
  queryFn: ({ signal, pageParam }) => take(api.GET("/api/hosts", { params: { query: pageFrom(pageParam) }, signal })),
  ...forward,
  refetchInterval: WATCHED_MS,
});

export function schedulesQuery(userId: Whose) {
  return infiniteQueryOptions({
    queryKey: ["schedules", userId],
    queryFn: ({ signal, pageParam }) =>
      take(api.GET("/api/schedules", { params: { query: { userId, ...pageFrom(pageParam) } }, signal })),
    ...forward,
  });
}

export function storageQuery(userId: Whose) {
  return queryOptions({
    queryKey: ["storage", userId],
    queryFn: ({ signal }) => take(api.GET("/api/storage", { params: { query: { userId } }, signal })),
  });
}

/** Pause or resume a queue. */
export async function steerQueue(name: string, action: "pause" | "resume"): Promise<void> {
  const path = { params: { path: { name } } };
  await take(api.POST(`/api/queues/{name}/${action}`, path));
  void queryClient.invalidateQueries({ queryKey: ["queues"] });
  // The overview is read at most every two seconds, so the answer may be older than the change: it is shown at once.
  queryClient.setQueriesData<Overview>({ queryKey: ["overview"] }, (now) =>
    now
      ? {
          ...now,
          steps: now.steps.map((step) => (step.queue === name ? { ...step, paused: action === "pause" } : step)),
        }
      : now,
  );
}

export async function steerSchedule(name: string, action: "pause" | "resume"): Promise<void> {
  const path = { params: { path: { name } } };
  await take(api.POST(`/api/schedules/{name}/${action}`, path));
  await queryClient.invalidateQueries({ queryKey: ["schedules"] });
}

export async function runSchedule(name: string): Promise<Schema<"ScheduleRun">> {
  const run = await take(api.POST("/api/schedules/{name}/run", { params: { path: { name } } }));
  void queryClient.invalidateQueries({ queryKey: ["schedules"] });
  return run;
}

// The stream has the overview of the same owners as the pages ask for: all for administrators, else one's own.
onLive("overview", (client, overviews: Overview[]) => {
  const newest = overviews.at(-1);
  if (newest) client.setQueriesData<Overview>({ queryKey: ["overview"] }, (now) => (now ? newest : now));
});
