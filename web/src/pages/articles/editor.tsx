import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useDeferredValue, useRef, useState } from "react";
import {
  type Article,
  articleQuery,
  changeArticle,
  createArticle,
  type Draft,
  type WholeArticle,
} from "~/api/articles";
import { ProblemError } from "~/api/problem";
import { Difference } from "~/difference/difference";
import { unifiedLines } from "~/difference/lines";
import { clock, exact } from "~/format";
import { useIsNarrow } from "~/grid/use-narrow";
import { Markdown } from "~/markdown/markdown";
import { useCommands } from "~/shell/commands";
import { Failed } from "~/shell/failed";
import { Button } from "~/ui/button";
import { Check, Field, Select } from "~/ui/field";
import { plural } from "~/words";
import css from "./articles.module.css";
import { Conflict } from "./conflict";
import type { DraftState } from "./draft-keeper";
import { changedFields, startOf, type Values } from "./editor-values";
import { useDraft } from "./use-draft";

const PREVIEWED = 200_000; // characters: longer texts are shown in part while they are written
const PRIORITIES = [
  { value: "high", label: "At once" },
  { value: "normal", label: "In turn" },
  { value: "low", label: "When there is time" },
] as const;

interface EditorProps {
  draftKey: string;
  draft: Draft | null;
  /** What is changed; without, a new article is written. */
  article?: WholeArticle;
  onSaved: (article: Article) => void;
  /** Without the draft there is what was before. */
  onDiscard: () => void;
}

/** A text and how it will look, kept as a draft while somebody types, and saved as a version. */
export function Editor({ draftKey, draft, article, onSaved, onDiscard }: EditorProps) {
  const client = useQueryClient();
  const [values, setValues] = useState(() => startOf(article, draft));
  const [base, setBase] = useState(draft?.baseVersion ?? article?.version ?? 1);
  const [pane, setPane] = useState<Pane>("write");
  const kept = useDraft(draftKey, draft, { ...(article && { articleId: article.id, baseVersion: base }) });
  const change = (next: Partial<Values>) => {
    const changed = { ...values, ...next };
    setValues(changed);
    if (next.title !== undefined || next.content !== undefined) kept.change(changed);
  };
  const save = useMutation({
    mutationFn: async (over: number) => {
      await kept.stop();
      const body = { ...changedFields(values, article), draft: draftKey };
      return article ? changeArticle(article.id, over, body) : createArticle({ ...body, title: values.title });
    },
    onSuccess: onSaved,
    onError: (error) => {
      kept.resume();
      if (!isConflict(error) || !article) return;
      setPane("changes");
      void client.invalidateQueries({ queryKey: articleQuery(article.id).queryKey });
    },
  });
  const isEmpty = !values.title.trim();
  const isBehind = article !== undefined && article.version > base;
  const press = () => !isEmpty && !isBehind && !save.isPending && save.mutate(base);
  useCommands([{ id: "article-save", title: "Save the article", group: "Article", keys: "mod+s", run: press }]);
  const problem = save.error instanceof ProblemError ? save.error : undefined;
  const isAtField = Boolean(problem?.at("title") ?? problem?.at("slug") ?? problem?.at("content"));
  return (
    <form
      className={css.editor}
      onSubmit={(event) => {
        event.preventDefault();
        press();
      }}
    >
      <div className={css.editorHead}>
        <span className={css.state} role="status">
          {stateWords(kept.state, draft)}
        </span>
        {(draft || kept.state.is === "kept") && (
          <Button look="plain" onClick={() => void kept.discard().then(onDiscard)}>
            Discard the draft
          </Button>
        )}
        {!isBehind && (
          <Button type="submit" look="primary" busy={save.isPending} disabled={isEmpty} shortcut="Ctrl+S">
            {article ? `Save as version ${exact(article.version + 1)}` : "Save"}
          </Button>
        )}
      </div>
      {isBehind && (
        <Conflict
          article={article}
          base={base}
          isBusy={save.isPending}
          onCompare={() => setPane("changes")}
          onMine={() => {
            setBase(article.version);
            save.mutate(article.version);
          }}
          onTheirs={() => void kept.discard().then(onDiscard)}
        />
      )}
      {!isAtField && !(isBehind && isConflict(save.error)) && <Failed of={save} what="The article was not saved." />}
      <Field
        label="Title"
        value={values.title}
        required
        maxLength={500}
        wrong={problem?.at("title")}
        onChange={({ currentTarget }) => change({ title: currentTarget.value })}
      />
      <Panes
        pane={pane}
        onPane={setPane}
        hasChanges={article !== undefined}
        content={values.content}
        wrong={problem?.at("content")}
        onContent={(content) => change({ content })}
        changes={() => <Changes before={article} after={values} />}
      />
      <div className={css.fields}>
        {article && (
          <Field
            label="What changes"
            placeholder="For the list of versions"
            value={values.message}
            maxLength={1000}
            onChange={({ currentTarget }) => change({ message: currentTarget.value })}
          />
        )}
        <Field
          label="File name"
          placeholder="Made of the title"
          value={values.slug}
          maxLength={255}
          wrong={problem?.at("slug")}
          onChange={({ currentTarget }) => change({ slug: currentTarget.value })}
        />
        <Select
          label="Found by meaning"
          value={values.priority}
          disabled={values.skipEmbedding}
          options={[...PRIORITIES]}
          onChange={(priority) => change({ priority })}
        />
        <Check
          label="Only by its words: do not embed it"
          checked={values.skipEmbedding}
          onChange={({ currentTarget }) => change({ skipEmbedding: currentTarget.checked })}
        />
      </div>
    </form>
  );
}

type Pane = "write" | "preview" | "changes";

interface PanesProps {
  pane: Pane;
  onPane: (pane: Pane) => void;
  hasChanges: boolean;
  content: string;
  wrong: string | undefined;
  onContent: (content: string) => void;
  changes: () => ReactNode;
}

/** The text, and beside it what becomes of it; on a narrow screen one of them. */
function Panes({ pane, onPane, hasChanges, content, wrong, onContent, changes }: PanesProps) {
  const beside = useRef<HTMLElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const later = useDeferredValue(content);
  const follow = () => {
    const [from, to] = [field.current!, beside.current];
    const room = from.scrollHeight - from.clientHeight;
    if (to && room > 0) to.scrollTop = (from.scrollTop / room) * (to.scrollHeight - to.clientHeight);
  };
  const isNarrow = useIsNarrow();
  const shown = pane === "write" && !isNarrow ? "preview" : pane;
  const button = (key: Pane, label: string) => (
    <Button look="plain" aria-pressed={shown === key} onClick={() => onPane(key)}>
      {label}
    </Button>
  );
  return (
    <div className={css.panes} data-pane={pane}>
      <div className={css.paneBar}>
        {isNarrow && button("write", "Write")}
        <span className={css.count}>{plural(countWords(later), "word")}</span>
        <span className="grow" />
        {button("preview", "Preview")}
        {hasChanges && button("changes", "Changes")}
      </div>
      <div className={css.write}>
        <label className="only-heard" htmlFor="article-text">
          Text, in Markdown
        </label>
        <textarea
          ref={field}
          id="article-text"
          className={css.text}
          value={content}
          aria-invalid={wrong ? true : undefined}
          aria-describedby={wrong ? "article-text-wrong" : undefined}
          placeholder={
            "Write in Markdown.\n\n# A heading\n\nSome **important** words, a [link](https://…), a list:\n\n- one\n- two"
          }
          onChange={({ currentTarget }) => onContent(currentTarget.value)}
          onScroll={follow}
        />
        {wrong && (
          <span id="article-text-wrong" className={css.wrong}>
            {wrong}
          </span>
        )}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section ref={beside} className={css.beside} tabIndex={0} aria-label={pane === "changes" ? "Changes" : "Preview"}>
        {pane === "changes" ? changes() : <Preview text={later} />}
      </section>
    </div>
  );
}

function Preview({ text }: { text: string }) {
  if (!text.trim()) return <p className="muted">Here is how the text looks, as you write it.</p>;
  return (
    <>
      <Markdown text={text.slice(0, PREVIEWED)} />
      {text.length > PREVIEWED && (
        <p className="muted">The preview ends here, after {exact(PREVIEWED)} characters. All of it is saved.</p>
      )}
    </>
  );
}

function Changes({ before, after }: { before: WholeArticle | undefined; after: Values }) {
  const text = before
    ? unifiedLines(`# ${before.title}\n\n${before.content}`, `# ${after.title}\n\n${after.content}`)
    : "";
  return text ? (
    <Difference text={text} label={`From version ${before?.version} to your text`} />
  ) : (
    <p className="muted">Your text is that of version {before?.version}.</p>
  );
}

function isConflict(error: unknown): boolean {
  return error instanceof ProblemError && error.status === 412;
}

function countWords(text: string): number {
  return text.trim() ? text.trim().split(/\s+/).length : 0;
}

function stateWords(state: DraftState, draft: Draft | null): string {
  switch (state.is) {
    case "typing":
      return "Not kept yet";
    case "kept":
      return `Kept as a draft at ${clock(new Date(state.at))}`;
    case "failed":
      return "The draft could not be kept: it is tried again";
    default:
      return draft ? `Your draft of ${clock(new Date(draft.updatedAt))}` : "What you write is kept as a draft";
  }
}
