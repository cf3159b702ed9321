import type { PipelineInfo } from "~/api/app";
import type { Overview, Series } from "~/api/ops";
import type { StepCounts } from "~/graph/step-graph";

/** The steps of a pipeline: what waits and runs now, and the attempts of the last hour that were the end of a task. */
export function pipelineSteps(info: PipelineInfo, overview: Overview, series: Series): StepCounts[] {
  const depth = new Map(
    overview.steps.filter((step) => step.pipeline === info.name).map((step) => [step.step, step] as const),
  );
  const lastMinute = Math.floor(Date.parse(series.at) / 60_000) * 60_000 - 60_000;
  return info.steps.map((step) => {
    const now = depth.get(step.name);
    const points = series.points.filter((point) => point.pipeline === info.name && point.step === step.name);
    const count = (isOne: (outcome: string) => boolean) =>
      points
        .flatMap((point) => Object.entries(point.outcomes))
        .reduce((sum, [outcome, each]) => sum + (isOne(outcome) ? each : 0), 0);
    const recent = points.find((point) => Date.parse(point.minute) === lastMinute);
    return {
      name: step.name,
      after: step.after,
      optional: step.optional,
      afterAll: step.afterAll,
      paused: now?.paused ?? false,
      parked: now?.parked ?? null,
      waiting: (now?.ready ?? 0) + (now?.scheduled ?? 0),
      running: now?.processing ?? 0,
      limit: now?.controllers ? Math.round(now.controllers.limit) : null,
      done: count((outcome) => outcome === "DONE"),
      failed: count((outcome) => outcome === "ERROR"),
      notFound: count((outcome) => outcome === "NOT_FOUND"),
      skipped: count((outcome) => outcome === "SKIPPED"),
      isPaced: true,
      perSecond: recent ? Object.values(recent.outcomes).reduce((sum, each) => sum + each, 0) / 60 : 0,
    };
  });
}
