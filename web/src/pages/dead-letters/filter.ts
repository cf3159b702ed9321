import type { LetterFilter, LetterGroup } from "~/api/dead-letters";

/** What makes a group: failures of the same step for the same reason, of a step, or of a class. */
export type By = "reason" | "step" | "class";

export interface LetterSearch {
  by?: By;
  pipeline?: string;
  step?: string;
  class?: string;
  reason?: string;
  owner?: string;
}

/** The groups as the API has them. */
export const GROUPED_BY: Record<By, string> = { reason: "step,errorClass,reason", step: "step", class: "errorClass" };

export function byOf({ step, reason }: LetterGroup): By {
  if (reason !== null) return "reason";
  return step === null ? "class" : "step";
}

export function filterOf({ pipeline, step, class: errorClass, reason, owner }: LetterSearch): LetterFilter {
  return {
    ...(pipeline !== undefined && { pipeline }),
    ...(step !== undefined && { step }),
    ...(errorClass !== undefined && { errorClass }),
    ...(reason !== undefined && { reason }),
    ...(owner !== undefined && { userId: owner }),
  };
}

/** Whether one group is meant, whose letters are listed. */
export function isOneGroup({ step, class: errorClass, reason }: LetterSearch): boolean {
  return step !== undefined || errorClass !== undefined || reason !== undefined;
}

/** The letters of a group, exactly: a letter without a class or reason is in a group of its own. */
export function searchOf(group: LetterGroup, { by = "reason", owner }: LetterSearch): LetterSearch {
  return {
    ...(by !== "reason" && { by }),
    ...(owner !== undefined && { owner }),
    pipeline: group.pipeline,
    ...(by !== "class" && group.step !== null && { step: group.step }),
    ...(by !== "step" && { class: group.errorClass ?? "" }),
    ...(by === "reason" && { reason: group.reason ?? "" }),
  };
}

/** The groups that a search is about, without the letters of one. */
export function groupsOf({ by, owner }: LetterSearch): LetterSearch {
  return { ...(by && { by }), ...(owner !== undefined && { owner }) };
}
