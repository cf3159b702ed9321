import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Mode, type SearchFilter, searchQuery } from "~/api/search";
import { exact } from "~/format";
import { useListKeys } from "~/shell/list-keys";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Field } from "~/ui/field";
import { Filters } from "~/ui/filters";
import { More } from "~/ui/more";
import { Empty, Notice } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { Tabs } from "~/ui/tabs";
import { sentence } from "~/words";
import { HitList } from "./hit-list";
import { SaveDialog } from "./save-dialog";
import css from "./search.module.css";

export interface Asked {
  q: string;
  kind?: string;
  mode?: "words" | "meaning";
  tag?: string;
  since?: string;
  until?: string;
}

const MODES: [Mode, string, string][] = [
  ["both", "Both", "By words and by meaning"],
  ["words", "Words", "The words as they are, with their endings"],
  ["meaning", "Meaning", "Texts that say the same in other words"],
];

export function filterOf({ q, kind, mode, tag, since, until }: Asked): SearchFilter {
  return {
    q,
    ...(mode && { mode }),
    ...(kind && { kind: [kind] }),
    ...(tag && { tag: [tag] }),
    ...(since && { since: `${since}T00:00:00Z` }),
    ...(until && { until: `${until}T00:00:00Z` }),
  };
}

/** What was found: kinds with their numbers, how it was searched, and the hits. */
export function Found({ search }: { search: Asked }) {
  const navigate = useNavigate({ from: "/search" });
  const [saves, setSaves] = useState(false);
  const set = (change: { [K in keyof Asked]?: Asked[K] | undefined }) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true, resetScroll: false });
  const query = useInfiniteQuery(searchQuery(filterOf(search)));
  const pages = query.data?.pages ?? [];
  const hits = pages.flatMap((page) => page.hits);
  const kinds = pages[0]?.kinds ?? [];
  const all = kinds.reduce((sum, { count }) => sum + count, 0);
  const keys = useListKeys({
    group: "Search",
    count: hits.length,
    onOpen: (index) => document.querySelectorAll<HTMLElement>("[data-hit]")[index]?.click(),
  });
  const narrowed = [search.kind, search.tag, search.since, search.until].filter(Boolean).length;
  return (
    <>
      <Filters
        chips={
          <fieldset className={css.modes}>
            <legend className="only-heard">How it is searched</legend>
            {MODES.map(([mode, word, means]) => (
              <Button
                key={mode}
                title={means}
                aria-pressed={(search.mode ?? "both") === mode}
                onClick={() => set({ mode: mode === "both" ? undefined : mode })}
              >
                {word}
              </Button>
            ))}
          </fieldset>
        }
        chosen={[search.tag, search.since, search.until].filter(Boolean).length}
      >
        <TagField key={search.tag} value={search.tag} onChange={(tag) => set({ tag })} />
        <Day label="Written since" value={search.since} onChange={(since) => set({ since })} />
        <Day label="Written before" value={search.until} onChange={(until) => set({ until })} />
        <Button onClick={() => setSaves(true)}>Save this search</Button>
      </Filters>
      <Loaded query={query} what="The search" loading={<SkeletonRows rows={6} height={88} />}>
        {({ pages: [first] }) => (
          <div className="stack" data-old={query.isPlaceholderData || undefined}>
            {first!.notes.map((note) => (
              <Notice key={note} title="Searched by words only.">
                {sentence(note)}
              </Notice>
            ))}
            {first!.corrected && (
              <p role="status">
                Nothing has these words. This is what was found for <strong>{first!.corrected}</strong>.
              </p>
            )}
            {all > 0 || search.kind ? (
              <Tabs
                label="Kinds"
                value={search.kind ?? "all"}
                onChange={(kind) => set({ kind: kind === "all" ? undefined : kind })}
                tabs={tabsOf(kinds, all, search.kind)}
              >
                {hits.length > 0 ? (
                  <HitList hits={hits} rowProps={keys.rowProps} />
                ) : (
                  <None asked={search} narrowed={narrowed} />
                )}
              </Tabs>
            ) : (
              <None asked={search} narrowed={narrowed} />
            )}
          </div>
        )}
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
      {saves && <SaveDialog asked={search} onClose={() => setSaves(false)} />}
    </>
  );
}

/** All kinds that were found, and the chosen one also if it was not. */
function tabsOf(kinds: { kind: string; title: string; count: number }[], all: number, chosen: string | undefined) {
  const isMissing = chosen !== undefined && !kinds.some(({ kind }) => kind === chosen);
  return [
    { key: "all", label: "All", count: exact(all) },
    ...kinds.map(({ kind, title, count }) => ({ key: kind, label: title, count: exact(count) })),
    ...(isMissing ? [{ key: chosen, label: chosen, count: "0" }] : []),
  ];
}

function None({ asked, narrowed }: { asked: Asked; narrowed: number }) {
  const navigate = useNavigate({ from: "/search" });
  return (
    <Empty
      title="Nothing is found"
      actions={
        <>
          {narrowed > 0 && (
            <Button onClick={() => void navigate({ search: { q: asked.q }, replace: true })}>Drop the filter</Button>
          )}
          {asked.mode && (
            <Button onClick={() => void navigate({ search: ({ mode: _, ...now }) => now, replace: true })}>
              Search by words and meaning
            </Button>
          )}
        </>
      }
    >
      {asked.mode === "meaning" ? "No text of yours says this" : "No text of yours has these words"}
      {narrowed > 0 && ", with this filter"}.
    </Empty>
  );
}

/** The tag goes into the URL when it is complete: by Enter, or when the field is left. */
function TagField({ value, onChange }: { value: string | undefined; onChange: (tag: string | undefined) => void }) {
  return (
    <Field
      label="Tag"
      defaultValue={value ?? ""}
      onBlur={({ currentTarget }) => onChange(currentTarget.value.trim() || undefined)}
      onKeyDown={({ key, currentTarget }) => key === "Enter" && onChange(currentTarget.value.trim() || undefined)}
    />
  );
}

interface DayProps {
  label: string;
  value: string | undefined;
  onChange: (day: string | undefined) => void;
}

function Day({ label, value, onChange }: DayProps) {
  return (
    <Field
      label={label}
      type="date"
      value={value ?? ""}
      onChange={({ currentTarget }) => onChange(currentTarget.value || undefined)}
    />
  );
}
