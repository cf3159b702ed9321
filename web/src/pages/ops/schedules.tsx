import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { usePipeline } from "~/api/app";
import { runSchedule, type Schedule, schedulesQuery, steerSchedule } from "~/api/ops";
import { Failed } from "~/shell/failed";
import { useListKeys } from "~/shell/list-keys";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Actions, Entries, Entry, Side, What } from "~/ui/entries";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { Pill } from "~/ui/pill";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { OpsPage, useWhose } from "./ops-page";

export default function SchedulesPage() {
  const query = useInfiniteQuery(schedulesQuery(useWhose()));
  const rows = query.data?.pages.flatMap((page) => page.schedules) ?? [];
  const navigate = useNavigate();
  const open = (index: number) => {
    const jobId = rows[index]?.lastJobId;
    if (jobId) void navigate({ to: "/jobs/$jobId", params: { jobId } });
  };
  const keys = useListKeys({ group: "Schedules", count: rows.length, onOpen: open });
  return (
    <OpsPage title="Schedules" subtitle="Jobs that begin by the clock.">
      <Loaded query={query} what="The schedules" loading={<SkeletonRows rows={4} height={72} />}>
        {() =>
          rows.length > 0 ? (
            <Entries label="Schedules">
              {rows.map((schedule, index) => (
                <Entry key={schedule.name} {...keys.rowProps(index)}>
                  <Plan schedule={schedule} />
                  <Times schedule={schedule} />
                  <Steer schedule={schedule} />
                </Entry>
              ))}
            </Entries>
          ) : (
            <Empty title="No schedule yet">
              A pipeline declares them with <code>pipeline.schedule(name, cron, input)</code>.
            </Empty>
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
    </OpsPage>
  );
}

function Plan({ schedule }: { schedule: Schedule }) {
  const { title } = usePipeline(schedule.pipeline);
  return (
    <What
      name={
        <>
          {schedule.name}
          {schedule.paused && <Pill status="PAUSED" />}
        </>
      }
    >
      <Side>
        {title}, of {schedule.owner}. <code>{schedule.cron}</code> in {schedule.timezone}
        {schedule.declared && ", declared by the pipeline"}
      </Side>
    </What>
  );
}

function Times({ schedule }: { schedule: Schedule }) {
  return (
    <What>
      <span>
        {schedule.paused || !schedule.nextAt ? (
          "Does not run by itself"
        ) : (
          <>
            Runs <Time value={schedule.nextAt} />
          </>
        )}
      </span>
      <Side>
        {schedule.lastAt ? (
          <>
            Last <Time value={schedule.lastAt} />
            {schedule.lastJobId && (
              <>
                {" as "}
                <Link to="/jobs/$jobId" params={{ jobId: schedule.lastJobId }}>
                  job {schedule.lastJobId}
                </Link>{" "}
                {schedule.lastState && <Pill status={schedule.lastState} />}
              </>
            )}
          </>
        ) : (
          "Has not run yet"
        )}
      </Side>
    </What>
  );
}

function Steer({ schedule }: { schedule: Schedule }) {
  const run = useMutation({
    mutationFn: () => runSchedule(schedule.name),
    onSuccess: ({ jobId, created }) => toast(created ? `Job ${jobId} has begun.` : `Job ${jobId} runs already.`),
  });
  const steer = useMutation({
    mutationFn: () => steerSchedule(schedule.name, schedule.paused ? "resume" : "pause"),
  });
  return (
    <>
      <Actions>
        <Button busy={run.isPending} aria-label={`Run ${schedule.name} now`} onClick={() => run.mutate()}>
          Run now
        </Button>
        <Button
          busy={steer.isPending}
          aria-label={`${schedule.paused ? "Resume" : "Pause"} ${schedule.name}`}
          onClick={() => steer.mutate()}
        >
          {schedule.paused ? "Resume" : "Pause"}
        </Button>
      </Actions>
      <Failed of={run} what={`${schedule.name} was not started.`} />
      <Failed of={steer} what={`${schedule.name} was not ${schedule.paused ? "resumed" : "paused"}.`} />
    </>
  );
}
