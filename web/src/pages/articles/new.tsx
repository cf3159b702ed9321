import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { findDraft } from "~/api/articles";
import { newKey } from "~/api/links";
import { Page } from "~/shell/page";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Skeleton } from "~/ui/skeleton";
import { Editor } from "./editor";

const route = getRouteApi("/articles/new");

/** A new article. The name of its draft is in the URL, so that it is found after a reload. */
export default function NewArticlePage() {
  const { draft: named } = route.useSearch();
  const navigate = useNavigate({ from: "/articles/new" });
  const [fresh, setFresh] = useState(() => `new-${newKey()}`);
  const key = named ?? fresh;
  const isNew = key === fresh;
  useEffect(() => {
    if (!named) void navigate({ search: { draft: fresh }, replace: true });
  }, [named, fresh, navigate]);
  const query = useQuery({
    queryKey: ["article draft", key],
    queryFn: () => (isNew ? null : findDraft(key)),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const restart = () => {
    const next = `new-${newKey()}`;
    setFresh(next);
    void navigate({ search: { draft: next }, replace: true });
  };
  return (
    <Page title="New article" subtitle={<Link to="/articles">Articles</Link>} wide>
      <Loaded query={query} what="The draft" loading={<Skeleton height={480} />}>
        {(draft) => (
          <Editor
            key={key}
            draftKey={key}
            draft={draft}
            onDiscard={restart}
            onSaved={({ id }) => {
              toast("Saved. It is found by its words now, and by its meaning in a moment.");
              void navigate({ to: "/articles/$id", params: { id } });
            }}
          />
        )}
      </Loaded>
    </Page>
  );
}
