import { Page } from "~/shell/page";
import { Empty } from "~/ui/notice";

export default function CataloguesPage() {
  return (
    <Page title="Catalogues">
      <Empty title="This page is not here yet">The API has its data already: see /api/docs.</Empty>
    </Page>
  );
}
