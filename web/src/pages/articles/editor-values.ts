import type { ArticleChange, Draft, Priority, WholeArticle } from "~/api/articles";

/** The fields of the editor. */
export interface Values {
  title: string;
  content: string;
  slug: string;
  message: string;
  skipEmbedding: boolean;
  priority: Priority;
}

/** What the editor begins with: the draft, if there is one, else the article. */
export function startOf(article: WholeArticle | undefined, draft: Draft | null): Values {
  return {
    title: draft?.title ?? article?.title ?? "",
    content: draft?.content ?? article?.content ?? "",
    slug: article?.slug ?? "",
    message: "",
    skipEmbedding: article?.skipEmbedding ?? false,
    priority: "normal",
  };
}

/** What is sent: of an article that exists, only what differs. */
export function changedFields(values: Values, article: WholeArticle | undefined) {
  const slug = values.slug.trim();
  const fields = {
    content: values.content,
    embeddingPriority: values.priority,
    ...(slug && slug !== article?.slug && { slug }),
    ...(values.message.trim() && { message: values.message.trim() }),
    ...(values.skipEmbedding !== (article?.skipEmbedding ?? false) && { skipEmbedding: values.skipEmbedding }),
  } satisfies ArticleChange;
  return values.title === article?.title ? fields : { ...fields, title: values.title };
}
