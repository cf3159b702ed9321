import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { articleQuery, embedArticle, type WholeArticle } from "~/api/articles";
import { exact } from "~/format";
import { useTopics } from "~/live";
import { Markdown } from "~/markdown/markdown";
import { useCommands } from "~/shell/commands";
import { Failed } from "~/shell/failed";
import { Page } from "~/shell/page";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Notice } from "~/ui/notice";
import { Skeleton } from "~/ui/skeleton";
import { Tabs } from "~/ui/tabs";
import { Time } from "~/ui/time";
import { plural } from "~/words";
import css from "./articles.module.css";
import { removeArticle } from "./deleting";
import { EditTab } from "./edit-tab";
import { EmbeddingPill, meaningOf, STATES } from "./embedding-pill";
import { Versions } from "./versions";

const route = getRouteApi("/articles/$id");
const TABS = [
  { key: "read", label: "Read" },
  { key: "edit", label: "Edit" },
  { key: "versions", label: "Versions" },
] as const;
type TabName = (typeof TABS)[number]["key"];
const READ = 400_000; // characters that are laid out at once

/** An article: read, changed, and as it was. */
export default function ArticlePage() {
  const { id } = route.useParams();
  const { tab = "read", version } = route.useSearch();
  const navigate = useNavigate({ from: "/articles/$id" });
  useTopics("jobs");
  const query = useQuery(articleQuery(id));
  const show = (next: TabName) =>
    void navigate({ search: next === "read" ? {} : { tab: next }, replace: true, resetScroll: false });
  const remove = () => {
    if (!query.data) return;
    void removeArticle(query.data);
    void navigate({ to: "/articles" });
  };
  useCommands([
    ...TABS.map(({ key, label }, index) => ({
      id: `article-${key}`,
      title: label,
      group: "Article",
      keys: String(index + 1),
      run: () => show(key),
      hidden: true,
    })),
    { id: "article-edit", title: "Edit", group: "Article", keys: "e", run: () => show("edit") },
    { id: "article-delete", title: "Delete the article", group: "Article", keys: "#", run: remove },
  ]);
  return (
    <Page
      title={query.data?.title ?? "Article"}
      subtitle={<Subtitle article={query.data} />}
      wide={tab === "edit"}
      actions={
        query.data && (
          <>
            {tab !== "edit" && (
              <Button shortcut="e" onClick={() => show("edit")}>
                <Pencil /> Edit
              </Button>
            )}
            <Button icon aria-label="Delete" shortcut="#" onClick={remove}>
              <Trash2 />
            </Button>
          </>
        )
      }
    >
      <Loaded query={query} what="The article" loading={<Skeleton height={320} />}>
        {(article) => (
          <Tabs label="Parts of the article" tabs={[...TABS]} value={tab} onChange={show}>
            {tab === "read" && <Read article={article} />}
            {tab === "edit" && <EditTab article={article} onDone={() => show("read")} />}
            {tab === "versions" && (
              <Versions
                article={article}
                version={version}
                onVersion={(next) =>
                  void navigate({ search: { tab: "versions", version: next }, replace: true, resetScroll: false })
                }
              />
            )}
          </Tabs>
        )}
      </Loaded>
    </Page>
  );
}

function Subtitle({ article }: { article: WholeArticle | undefined }) {
  return (
    <span className={css.subtitle}>
      <Link to="/articles">Articles</Link>
      {article && (
        <>
          <EmbeddingPill article={article} />
          <span>
            {plural(article.words, "word")}, version {exact(article.version)}, <Time value={article.updatedAt} />
          </span>
          <code>{article.slug}</code>
        </>
      )}
    </span>
  );
}

function Read({ article }: { article: WholeArticle }) {
  const [isAll, setAll] = useState(false);
  const isLong = article.content.length > READ && !isAll;
  return (
    <div className="stack">
      <NotFresh article={article} />
      {article.content.trim() ? (
        <Markdown text={isLong ? article.content.slice(0, READ) : article.content} />
      ) : (
        <p className="muted">This article has no text yet.</p>
      )}
      {isLong && (
        <div className="row">
          <Button onClick={() => setAll(true)}>
            Show the rest ({exact(article.content.length - READ)} characters)
          </Button>
        </div>
      )}
    </div>
  );
}

/** Why the search does not know the meaning of this text, and what to do. */
function NotFresh({ article }: { article: WholeArticle }) {
  const embed = useMutation({ mutationFn: () => embedArticle(article.id) });
  if (article.embedding !== "failed" && article.embedding !== "stale") return null;
  return (
    <Notice
      kind={article.embedding === "failed" ? "error" : "warn"}
      title={article.embedding === "failed" ? "It could not be embedded." : `${STATES.stale.word}.`}
      actions={
        <>
          <Button busy={embed.isPending} onClick={() => embed.mutate()}>
            Embed it now
          </Button>
          {article.jobId && (
            <Link to="/jobs/$jobId" params={{ jobId: article.jobId }}>
              Its job
            </Link>
          )}
        </>
      }
    >
      {meaningOf(article)}
      <Failed of={embed} what="It was not queued." />
    </Notice>
  );
}
