import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { suggestQuery } from "~/api/suggest";
import type { Command } from "./commands";
import { things } from "./things";
import { useTyped } from "./use-typed";

const LONGEST = 100;

/** What is called like a text, as commands that open it; it is asked for when nobody has typed for a moment. */
export function useFound(typed: string): Command[] {
  const q = useTyped(typed.trim().slice(0, LONGEST));
  const { history } = useRouter();
  const { data } = useQuery(suggestQuery(q));
  if (!typed.trim() || !q) return [];
  return (data?.suggestions ?? []).flatMap(({ kind, id, title }): Command[] => {
    const place = things.get()[kind]?.(id);
    if (!place) return [];
    return [{ id: `find ${kind} ${id}`, title, detail: kind, group: "Found", run: () => history.push(place) }];
  });
}
