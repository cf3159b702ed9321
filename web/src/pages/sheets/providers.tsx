import { Page } from "~/shell/page";
import { Empty } from "~/ui/notice";

export default function ProvidersPage() {
  return (
    <Page title="Providers">
      <Empty title="This page is not here yet">The API has its data already: see /api/docs.</Empty>
    </Page>
  );
}
