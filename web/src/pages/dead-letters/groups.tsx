import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { usePipeline } from "~/api/app";
import { queryClient } from "~/api/client";
import { type LetterGroup, resultsQuery, retryGroup } from "~/api/dead-letters";
import { exact } from "~/format";
import { useListKeys } from "~/shell/list-keys";
import { toast } from "~/shell/toasts";
import { Button, buttonClass } from "~/ui/button";
import { List } from "~/ui/list";
import { Sparkline } from "~/ui/sparkline";
import { Time } from "~/ui/time";
import { plural, sentence } from "~/words";
import css from "./dead-letters.module.css";
import { dropRetry, groupKey, noteRetry, type Retry, resultWords } from "./retries";

const CLASSES: Record<string, string> = {
  permanent: "No retry helps unless something changes.",
  data: "The input cannot be processed as it is.",
  transient: "All attempts failed; it may work later.",
  throttled: "The other side asked for patience for too long.",
  config: "Something is not set up.",
  resource: "The machine was at its limit.",
  not_found: "It is not there.",
};

function searchOf(group: LetterGroup) {
  return {
    pipeline: group.pipeline,
    ...(group.step && { step: group.step }),
    ...(group.errorClass && { class: group.errorClass }),
  };
}

export function Groups({ groups, retried }: { groups: LetterGroup[]; retried: ReadonlyMap<string, Retry> }) {
  const navigate = useNavigate();
  const keys = useListKeys({
    group: "Dead letters",
    count: groups.length,
    onOpen: (index) => {
      const group = groups[index];
      if (group) void navigate({ to: "/dead-letters", search: searchOf(group) });
    },
  });
  return (
    <List label="Groups of dead letters">
      {groups.map((group, index) => (
        <li key={groupKey(group)} {...keys.rowProps(index)} className={css.group}>
          <Group group={group} retry={retried.get(groupKey(group))} />
        </li>
      ))}
    </List>
  );
}

function Group({ group, retry }: { group: LetterGroup; retry: Retry | undefined }) {
  const { title, noun } = usePipeline(group.pipeline);
  const again = useMutation({
    mutationFn: () => retryGroup(group),
    onSuccess: ({ items, leftOut, byJob }) => {
      const left = leftOut > 0 ? ` ${plural(leftOut, "letter")} could not be.` : "";
      toast(`${plural(items, noun)} run${items === 1 ? "s" : ""} again.${left}`);
      if (items > 0) noteRetry({ group, items, jobs: byJob });
      void queryClient.invalidateQueries({ queryKey: ["dead-letters"] });
    },
    onError: (error) => toast(error.message),
  });
  return (
    <>
      <span className={css.text}>
        <span className={css.reason}>{sentence(group.reason ?? "no reason was given")}</span>
        <span className={css.side}>
          {title}, {group.step}. {group.errorClass && (CLASSES[group.errorClass.toLowerCase()] ?? group.errorClass)}
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
          <Button busy={again.isPending} onClick={() => again.mutate()}>
            Retry {exact(group.count)}
          </Button>
        )}
        {group.count > 0 ? (
          <Link to="/dead-letters" search={searchOf(group)} className={buttonClass("plain")}>
            Show
          </Link>
        ) : (
          <Button look="plain" onClick={() => dropRetry(group)}>
            Dismiss
          </Button>
        )}
      </span>
    </>
  );
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
