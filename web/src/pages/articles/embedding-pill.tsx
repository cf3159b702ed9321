import type { Article, EmbeddingState } from "~/api/articles";
import { Pill } from "~/ui/pill";
import { type StatusName, sentence } from "~/words";

/** The states of an embedding: the status whose shape and colour it has, its word, and what it means. */
export const STATES = {
  fresh: { status: "DONE", word: "Fresh", means: "The search knows this text by its words and its meaning." },
  stale: { status: "EXPIRED", word: "Older than its text", means: "The search by meaning knows an earlier text." },
  waiting: { status: "PENDING", word: "Waiting", means: "It is embedded in a moment; its words are found already." },
  failed: { status: "FAILED", word: "Failed", means: "It is found by its words only." },
  off: { status: "CANCELLED", word: "Off", means: "It is found by its words only, as you have chosen." },
} as const satisfies Record<EmbeddingState, { status: StatusName; word: string; means: string }>;

export const STATE_NAMES = Object.keys(STATES) as EmbeddingState[];

export function EmbeddingPill({ article }: { article: Pick<Article, "embedding" | "embeddingProblem"> }) {
  const { status, word } = STATES[article.embedding];
  return (
    <span title={meaningOf(article)}>
      <Pill status={status}>{word}</Pill>
    </span>
  );
}

/** What the state means, and why if it has failed. */
export function meaningOf({ embedding, embeddingProblem }: Pick<Article, "embedding" | "embeddingProblem">): string {
  const { means } = STATES[embedding];
  return embeddingProblem ? `${sentence(embeddingProblem)} ${means}` : means;
}
