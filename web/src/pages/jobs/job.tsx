import { getRouteApi } from "@tanstack/react-router";
import { JobView, LoadingJob, useWholeJob } from "~/jobs/job-view";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";

const route = getRouteApi("/jobs/$jobId");

export default function JobPage() {
  const { jobId } = route.useParams();
  const { query, isComplete } = useWholeJob(jobId);
  if (query.data && isComplete) return <JobView key={jobId} job={query.data} />;
  return (
    <Page title={`Job ${jobId}`}>
      <Loaded query={query} what={`Job ${jobId}`} loading={<LoadingJob />}>
        {() => <LoadingJob />}
      </Loaded>
    </Page>
  );
}
