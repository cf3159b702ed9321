import { Page } from "~/shell/page";
import { Empty } from "~/ui/notice";

export default function SettingsInForcePage() {
  return (
    <Page title="Settings in force">
      <Empty title="This page is not here yet">The API has its data already: see /api/docs.</Empty>
    </Page>
  );
}
