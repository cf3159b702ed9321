import { Page } from "~/shell/page";
import { Empty } from "~/ui/notice";

export default function HomePage() {
  return (
    <Page title="Home">
      <Empty title="This page is not here yet">The API has its data already: see /api/docs.</Empty>
    </Page>
  );
}
