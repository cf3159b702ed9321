import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type Article, articlesQuery, type Draft, draftsQuery, dropDraft } from "~/api/articles";
import { useTopics } from "~/live";
import { useListKeys } from "~/shell/list-keys";
import { Page } from "~/shell/page";
import { useStore } from "~/shell/store";
import { failedToast, toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button, buttonClass } from "~/ui/button";
import { Chips } from "~/ui/chips";
import { Filters } from "~/ui/filters";
import { List } from "~/ui/list";
import { More } from "~/ui/more";
import { Empty } from "~/ui/notice";
import { Section } from "~/ui/section";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import { plural } from "~/words";
import css from "./articles.module.css";
import { deleting } from "./deleting";
import { EmbeddingPill, STATE_NAMES, STATES } from "./embedding-pill";
import { ArticlePlaces } from "./places";

const route = getRouteApi("/articles");
const LOADING = <SkeletonRows rows={8} height={64} />;

export default function ArticlesPage() {
  const { state = [] } = route.useSearch();
  const navigate = useNavigate({ from: "/articles" });
  useTopics("jobs");
  const query = useInfiniteQuery(articlesQuery(state));
  const drafts = useQuery(draftsQuery);
  const hidden = useStore(deleting);
  const all = query.data?.pages.flatMap((page) => page.articles) ?? [];
  const articles = all.filter(({ id }) => !hidden.has(id));
  const keys = useListKeys({
    group: "Articles",
    count: articles.length,
    onOpen: (index) => {
      const article = articles[index];
      if (article) void navigate({ to: "/articles/$id", params: { id: article.id } });
    },
  });
  return (
    <Page
      title="Articles"
      actions={
        <Link to="/articles/new" className={buttonClass("primary")}>
          New article
        </Link>
      }
    >
      <ArticlePlaces />
      <Filters
        chips={
          <Chips
            label="Embedding"
            chosen={state}
            onChange={(chosen) =>
              void navigate({ search: chosen.length > 0 ? { state: chosen } : {}, replace: true, resetScroll: false })
            }
            chips={STATE_NAMES.map((value) => ({ value, label: STATES[value].word }))}
          />
        }
      />
      {/* What came later would push the list away. */}
      {drafts.isPending ? LOADING : <Drafts drafts={drafts.data ?? []} />}
      <Loaded query={query} what="The articles" loading={drafts.isPending ? null : LOADING}>
        {() =>
          drafts.isPending ? null : articles.length > 0 ? (
            <List label="Articles">
              {articles.map((article, index) => (
                <li key={article.id} {...keys.rowProps(index)} className={css.item}>
                  <ArticleLine article={article} />
                </li>
              ))}
            </List>
          ) : query.hasNextPage ? null : state.length > 0 ? (
            <Empty
              title="No article matches"
              actions={<Button onClick={() => void navigate({ search: {} })}>Drop the filter</Button>}
            >
              No article has this state: {state.map((each) => STATES[each].word.toLowerCase()).join(", ")}.
            </Empty>
          ) : (
            <Empty
              title="No articles yet"
              actions={
                <Link to="/articles/new" className={buttonClass("primary")}>
                  Write the first one
                </Link>
              }
            >
              An article is a text in Markdown. It is saved at once, and a moment later the search finds it by what it
              means, not only by its words.
            </Empty>
          )
        }
      </Loaded>
      <More
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onMore={() => void query.fetchNextPage()}
      />
    </Page>
  );
}

function ArticleLine({ article }: { article: Article }) {
  return (
    <Link to="/articles/$id" params={{ id: article.id }} className={css.line}>
      <span className={css.what}>
        <span className={css.name}>{article.title}</span>
        <span className={css.excerpt}>{article.excerpt || "No text"}</span>
      </span>
      <EmbeddingPill article={article} />
      <span className={css.side}>
        {plural(article.words, "word")}, version {article.version}
        <br />
        <Time value={article.updatedAt} />
      </span>
    </Link>
  );
}

/** What was begun and not saved. */
function Drafts({ drafts }: { drafts: Draft[] }) {
  if (drafts.length === 0) return null;
  const discard = (draft: Draft) =>
    void dropDraft(draft.key).then(
      () => toast("The draft is discarded."),
      (error: unknown) => failedToast("The draft was not discarded.", error, () => discard(draft)),
    );
  return (
    <Section title="Not saved yet">
      <List label="Drafts">
        {drafts.map((draft) => (
          <li key={draft.key} className={css.draft}>
            <Link
              {...(draft.articleId
                ? { to: "/articles/$id", params: { id: draft.articleId }, search: { tab: "edit" } }
                : { to: "/articles/new", search: { draft: draft.key } })}
              className={css.what}
            >
              <span className={css.name}>{draft.title || "Without a title"}</span>
              <span className={css.excerpt}>{draft.content || "No text"}</span>
            </Link>
            <span className={css.side}>
              {draft.articleId ? "Change of an article" : "New article"}
              <br />
              <Time value={draft.updatedAt} />
            </span>
            <Button look="plain" aria-label={`Discard ${draft.title || "the draft"}`} onClick={() => discard(draft)}>
              Discard
            </Button>
          </li>
        ))}
      </List>
    </Section>
  );
}
