import { type Article, deleteArticle } from "~/api/articles";
import { Store } from "~/shell/store";
import { failedToast, held } from "~/shell/toasts";

/** Articles that are gone for the person, and not yet for the server: there, a deleted article cannot come back. */
export const deleting = new Store<ReadonlySet<string>>(new Set());

/** Delete an article after a few seconds, in which it can be undone; at once when the page is left. */
export async function removeArticle(article: Article): Promise<void> {
  deleting.update((ids) => new Set(ids).add(article.id));
  try {
    if (await held(`“${article.title}” is deleted.`)) await deleteArticle(article);
  } catch (error) {
    failedToast(`“${article.title}” was not deleted.`, error, () => void removeArticle(article));
  } finally {
    deleting.update((ids) => new Set([...ids].filter((id) => id !== article.id)));
  }
}
