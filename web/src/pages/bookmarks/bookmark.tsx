import { Page } from "~/shell/page";
import { Empty } from "~/ui/notice";

export default function BookmarkPage() {
  return (
    <Page title="Bookmark">
      <Empty title="This page is not here yet">The API has its data already: see /api/docs.</Empty>
    </Page>
  );
}
