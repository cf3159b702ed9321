import { Page } from "~/shell/page";
import { Empty } from "~/ui/notice";

export default function WorkerPage() {
  return (
    <Page title="Worker">
      <Empty title="This page is not here yet">The API has its data already: see /api/docs.</Empty>
    </Page>
  );
}
