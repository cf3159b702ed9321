import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { findDraft, type WholeArticle } from "~/api/articles";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Skeleton } from "~/ui/skeleton";
import { Editor } from "./editor";

/** The editor of an article; it goes on with the draft of the last time. */
export function EditTab({ article, onDone }: { article: WholeArticle; onDone: () => void }) {
  const client = useQueryClient();
  const key = `article-${article.id}`;
  const [round, setRound] = useState(0);
  const query = useQuery({
    queryKey: ["article draft", key, round],
    queryFn: () => findDraft(key),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <Loaded query={query} what="The draft" loading={<Skeleton height={480} />}>
      {(draft) => (
        <Editor
          key={round}
          draftKey={key}
          draft={draft}
          article={article}
          onDiscard={() => {
            client.setQueryData(["article draft", key, round + 1], null);
            setRound(round + 1);
          }}
          onSaved={({ version }) => {
            toast(version === article.version ? "Nothing has changed." : `Saved as version ${version}.`);
            onDone();
          }}
        />
      )}
    </Loaded>
  );
}
