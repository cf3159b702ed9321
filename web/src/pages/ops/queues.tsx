import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useIsAdmin, usePipeline } from "~/api/app";
import { overviewQuery, type StepDepth, steerQueue } from "~/api/ops";
import { short } from "~/format";
import { useTopics } from "~/live";
import { useCommands } from "~/shell/commands";
import { Failed } from "~/shell/failed";
import { useListKeys } from "~/shell/list-keys";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Actions, Entries, Entry, Numbers, Side, What } from "~/ui/entries";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { Prose } from "~/ui/prose";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { sentence } from "~/words";
import { OpsPage, useWhose } from "./ops-page";

export default function QueuesPage() {
  useTopics("overview");
  const query = useQuery(overviewQuery(useWhose()));
  return (
    <OpsPage title="Queues" subtitle="What waits, by step. A paused queue starts nothing; what runs there ends.">
      <Loaded query={query} what="The queues" loading={<SkeletonRows rows={6} height={72} />}>
        {({ steps }) =>
          steps.length > 0 ? (
            <Queues steps={steps} />
          ) : (
            <Empty title="No queue is known yet">
              A queue appears when a worker or the API has started with its pipeline.
            </Empty>
          )
        }
      </Loaded>
    </OpsPage>
  );
}

function Queues({ steps }: { steps: StepDepth[] }) {
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  const steer = useSteerQueue();
  const keys = useListKeys({
    group: "Queues",
    count: steps.length,
    onOpen: (index) =>
      isAdmin && void navigate({ to: "/ops/pipelines/$name", params: { name: steps[index]!.pipeline } }),
  });
  const chosen = steps[keys.at];
  useCommands(
    isAdmin && chosen
      ? [
          {
            id: "queue-pause",
            title: chosen.paused ? `Resume ${chosen.queue}` : `Pause ${chosen.queue}`,
            group: "Queues",
            keys: "p",
            run: () => steer.mutate({ queue: chosen.queue, action: chosen.paused ? "resume" : "pause" }),
          },
        ]
      : [],
  );
  return (
    <Entries label="Queues">
      {steps.map((step, index) => (
        <Entry key={`${step.pipeline} ${step.step}`} {...keys.rowProps(index)}>
          <Queue step={step} />
          <Numbers
            values={[
              [step.ready, "ready"],
              [step.scheduled, "later"],
              [step.processing, "running"],
              [step.onHold, "on hold"],
            ]}
          />
          {isAdmin && (
            <Actions>
              <Button
                busy={steer.isPending && steer.variables.queue === step.queue}
                aria-label={`${step.paused ? "Resume" : "Pause"} ${step.queue}`}
                onClick={() => steer.mutate({ queue: step.queue, action: step.paused ? "resume" : "pause" })}
              >
                {step.paused ? "Resume" : "Pause"}
              </Button>
            </Actions>
          )}
          {steer.variables?.queue === step.queue && (
            <Failed of={steer} what={`${step.queue} was not ${steer.variables.action}d.`} />
          )}
        </Entry>
      ))}
    </Entries>
  );
}

function Queue({ step }: { step: StepDepth }) {
  const { title } = usePipeline(step.pipeline);
  const isAdmin = useIsAdmin();
  const own = `${step.pipeline}.${step.step}`;
  return (
    <What
      name={
        <>
          {isAdmin ? (
            <Link to="/ops/pipelines/$name" params={{ name: step.pipeline }}>
              {title}, {step.step}
            </Link>
          ) : (
            `${title}, ${step.step}`
          )}
          {step.paused && <Pill status="PAUSED" />}
          {step.parked && <Pill status="PARKED" />}
        </>
      }
    >
      <Side>
        {step.queue === own ? own : `Queue ${step.queue}`}
        {step.oldestAt && (
          <>
            , the oldest ready job is from <Time value={step.oldestAt} />
          </>
        )}
        {step.nextAt && step.scheduled > 0 && (
          <>
            , the next one <Time value={step.nextAt} />
          </>
        )}
        {step.controllers &&
          `, ${short(step.controllers.running)} of ${short(step.controllers.limit)} places in workers used`}
      </Side>
      {step.parked && (
        <span>
          <Prose text={sentence(step.parked)} /> It is tried again{" "}
          {step.probeAt ? <Time value={step.probeAt} /> : "by itself"}.
        </span>
      )}
    </What>
  );
}

interface Steer {
  queue: string;
  action: "pause" | "resume";
}

function useSteerQueue() {
  const steer = useMutation({
    mutationFn: ({ queue, action }: Steer) => steerQueue(queue, action),
    onSuccess: (_, { queue, action }) =>
      toast(
        action === "pause" ? `${queue} is paused: what runs now ends, nothing else starts.` : `${queue} runs again.`,
        {
          label: "Undo",
          run: () => steer.mutate({ queue, action: action === "pause" ? "resume" : "pause" }),
        },
      ),
  });
  return steer;
}
