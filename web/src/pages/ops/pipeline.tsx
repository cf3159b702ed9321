import { Page } from "~/shell/page";
import { Empty } from "~/ui/notice";

export default function PipelinePage() {
  return (
    <Page title="Pipeline">
      <Empty title="This page is not here yet">The API has its data already: see /api/docs.</Empty>
    </Page>
  );
}
