import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { usePipeline } from "~/api/app";
import { type LetterFilter, type LetterGroup, resultsQuery, retryMatching } from "~/api/dead-letters";
import { exact } from "~/format";
import { Failed } from "~/shell/failed";
import { useHeld } from "~/shell/held";
import { useListKeys } from "~/shell/list-keys";
import { Button, buttonClass } from "~/ui/button";
import { List } from "~/ui/list";
import { Sparkline } from "~/ui/sparkline";
import { Time } from "~/ui/time";
import { plural, runsAgain, sentence } from "~/words";
import css from "./dead-letters.module.css";
import { filterOf, type LetterSearch, searchOf } from "./filter";
import { dropRetry, groupKey, NOTHING_RUNS, noteStarted, type Retry, resultWords, withoutMasks } from "./retries";

const CLASSES: Record<string, string> = {
  permanent: "No retry helps unless something changes.",
  data: "The input cannot be processed as it is.",
  transient: "All attempts failed; it may work later.",
  throttled: "The other side asked for patience for too long.",
  config: "Something is not set up.",
  resource: "The machine was at its limit.",
  not_found: "It is not there.",
};

interface GroupsProps {
  groups: LetterGroup[];
  retried: ReadonlyMap<string, Retry>;
  search: LetterSearch;
}

export function Groups({ groups, retried, search }: GroupsProps) {
  const navigate = useNavigate();
  const keys = useListKeys({
    group: "Dead letters",
    count: groups.length,
    onOpen: (index) => {
      const group = groups[index];
      if (group) void navigate({ to: "/dead-letters", search: searchOf(group, search) });
    },
  });
  return (
    <List label="Groups of dead letters">
      {groups.map((group, index) => (
        <li key={groupKey(group)} {...keys.rowProps(index)} className={css.group}>
          <Group group={group} retry={retried.get(groupKey(group))} search={search} />
        </li>
      ))}
    </List>
  );
}

interface GroupProps {
  group: LetterGroup;
  retry: Retry | undefined;
  search: LetterSearch;
  /** Its letters are listed below. */
  isOpen?: boolean;
}

/** The group whose letters are listed. */
export function OpenGroup({ group, retry, search }: GroupProps) {
  return (
    <section aria-label="The group" className={css.open}>
      <div className={css.group}>
        <Group group={group} retry={retry} search={search} isOpen />
      </div>
    </section>
  );
}

interface Asked {
  group: LetterGroup;
  filter: LetterFilter;
}

function Group({ group, retry, search, isOpen }: GroupProps) {
  const { title, noun } = usePipeline(group.pipeline);
  const chosen = searchOf(group, search);
  const again = useHeld({
    words: (asked: Asked) => runsAgain(asked.group.count, noun),
    what: NOTHING_RUNS,
    send: async (asked) => noteStarted(await retryMatching(asked.filter), asked.group, noun),
  });
  return (
    <>
      <span className={css.text}>
        <span className={css.reason}>{headline(group, search)}</span>
        <span className={css.side}>
          {[title, group.step].filter(Boolean).join(", ")}. {classWords(group.errorClass)}
        </span>
        <span className={css.side}>
          first <Time value={group.firstAt} />, last <Time value={group.lastAt} />
        </span>
        {retry && <Results retry={retry} />}
      </span>
      <Sparkline values={group.perHour} label="Failures per hour" />
      <strong className={css.count}>{exact(group.count)}</strong>
      <span className={css.actions}>
        {group.count > 0 && (
          <Button
            title={`Run ${group.step ?? "what failed"} again for all of this group`}
            busy={again.isPending}
            onClick={() => again.mutate({ group, filter: filterOf(chosen) })}
          >
            Retry {exact(group.count)}
          </Button>
        )}
        {group.count > 0 && !isOpen && (
          <Link to="/dead-letters" search={chosen} className={buttonClass("plain")}>
            Show
          </Link>
        )}
        {group.count === 0 && (
          <Button look="plain" onClick={() => dropRetry(group)}>
            Dismiss
          </Button>
        )}
      </span>
      <div className={css.failed}>
        <Failed of={again} what={NOTHING_RUNS} />
      </div>
    </>
  );
}

function classWords(errorClass: string | null): string {
  return errorClass ? (CLASSES[errorClass.toLowerCase()] ?? sentence(errorClass)) : "";
}

/** What the letters of the group have in common. */
function headline(group: LetterGroup, { by = "reason" }: LetterSearch): string {
  if (by === "step") return `Failed in ${group.step}`;
  if (by === "class") return sentence(group.errorClass ?? "no class");
  return sentence(withoutMasks(group.reason || "no reason was given"));
}

/** What has become of the retry: it changes while the items run. */
function Results({ retry }: { retry: Retry }) {
  const { data } = useQuery(resultsQuery(retry.jobs));
  return (
    <span role="status">
      {plural(retry.items, "item")} ran again{data && `: ${resultWords(data)}`}.
    </span>
  );
}
