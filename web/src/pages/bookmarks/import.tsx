import { Page } from "~/shell/page";
import { Empty } from "~/ui/notice";

export default function ImportBookmarksPage() {
  return (
    <Page title="Import bookmarks">
      <Empty title="This page is not here yet">The API has its data already: see /api/docs.</Empty>
    </Page>
  );
}
