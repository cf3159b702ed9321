import { Page } from "~/shell/page";
import { Empty } from "~/ui/notice";

export default function ItemPage() {
  return (
    <Page title="Item">
      <Empty title="This page is not here yet">The API has its data already: see /api/docs.</Empty>
    </Page>
  );
}
