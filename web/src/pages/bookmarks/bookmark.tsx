import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { bookmarkQuery } from "~/api/bookmarks";
import { titleOf } from "~/bookmarks/marks";
import { host } from "~/format";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { Detail } from "./detail";
import { LoadingDetail } from "./panel";

const route = getRouteApi("/bookmarks/$id");

/** A bookmark that was opened alone. */
export default function BookmarkPage() {
  const { id } = route.useParams();
  const { tab } = route.useSearch();
  const navigate = useNavigate({ from: "/bookmarks/$id" });
  const query = useQuery(bookmarkQuery(id));
  return (
    <Page
      title={query.data ? titleOf(query.data) : "Bookmark"}
      subtitle={
        <>
          <Link to="/bookmarks">Bookmarks</Link>
          {query.data && `, ${query.data.site ?? host(query.data.url)}`}
        </>
      }
    >
      <Loaded query={query} what="The bookmark" loading={<LoadingDetail />}>
        {(bookmark) => (
          <Detail
            bookmark={bookmark}
            tab={tab}
            onTab={(next) => void navigate({ search: { tab: next }, replace: true, resetScroll: false })}
            onGone={() => void navigate({ to: "/bookmarks" })}
          />
        )}
      </Loaded>
    </Page>
  );
}
