import { Link } from "@tanstack/react-router";
import { Page } from "~/shell/page";
import { buttonClass } from "~/ui/button";
import { Empty } from "~/ui/notice";

export default function NotFound() {
  return (
    <Page title="Not here">
      <Empty
        title="There is no such page"
        actions={
          <Link to="/" className={buttonClass("primary")}>
            Home
          </Link>
        }
      >
        The address may be misspelt, or what it showed was deleted.
      </Empty>
    </Page>
  );
}
