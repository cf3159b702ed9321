import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { type FormEvent, type KeyboardEvent, lazy, Suspense, useEffect, useId, useRef, useState } from "react";
import { importLinks, newKey, saveLink } from "~/api/links";
import { ProblemError } from "~/api/problem";
import { trackJob } from "~/jobs/tracked";
import { Button } from "~/ui/button";
import { classes } from "~/ui/classes";
import { sentence } from "~/words";
import css from "./box.module.css";
import { intentOf, intentWords } from "./intent";
import { isInField } from "./keys";
import { keepLink } from "./outbox";
import { Store, useStore } from "./store";
import { toast } from "./toasts";

const Answers = lazy(() => import("./later").then((loaded) => ({ default: loaded.Answers })));

/** The text of the box, which the top bar and Home share: what was typed in one is not lost in the other. */
const text = new Store("");
const focusAsked = new Store(0);

/** Focus the box, with this text in it. */
export function fillBox(given?: string): void {
  if (given !== undefined) text.set(given);
  focusAsked.update((count) => count + 1);
}

/** One field for everything: a link is saved, several are imported, #12 opens a job, other text is searched. */
export function Box({ large }: { large?: boolean }) {
  const value = useStore(text);
  const asked = useStore(focusAsked);
  const navigate = useNavigate();
  const field = useRef<HTMLTextAreaElement>(null);
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState("");
  const [focused, setFocused] = useState(false);
  const hint = useId();
  const intent = intentOf(value);

  useEffect(() => {
    if (asked > 0) field.current?.focus();
  }, [asked]);

  const act = async () => {
    switch (intent.kind) {
      case "save": {
        const key = newKey();
        const saved = await saveLink(intent.url, {}, key).catch(async (error: unknown) => {
          if (!(error instanceof ProblemError) || error.status !== 0) throw error;
          await keepLink({ key, url: intent.url });
        });
        if (saved) {
          toast(saved.created ? "Saved. It fills in as its page is read." : "It was saved already.", {
            label: "Show",
            run: () => void navigate({ to: "/bookmarks/$id", params: { id: saved.id } }),
          });
        } else toast("Kept on this device, sent when you are online.");
        break;
      }
      case "import": {
        const job = await importLinks(intent.urls);
        trackJob({ jobId: job.jobId, title: "Import", href: `/jobs/${job.jobId}`, noun: "link" });
        void navigate({ to: "/jobs/$jobId", params: { jobId: job.jobId } });
        break;
      }
      case "job":
        void navigate({ to: "/jobs/$jobId", params: { jobId: intent.id } });
        break;
      case "search":
        void navigate({ to: "/search", search: { q: intent.text } });
        break;
      default:
        return;
    }
    text.set("");
  };
  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    setWrong("");
    setBusy(true);
    try {
      await act();
    } catch (error) {
      setWrong(sentence(error instanceof ProblemError ? (error.at("url") ?? error.detail) : String(error)));
    } finally {
      setBusy(false);
    }
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      void submit();
    } else if (event.key === "ArrowDown") {
      field.current?.form?.querySelector<HTMLElement>("[data-answers] a")?.focus();
    } else if (event.key === "Escape") {
      text.set("");
      setWrong("");
      field.current?.blur();
    }
  };
  const words = wrong || intentWords(intent);
  return (
    <form
      className={classes(css.box, large && css.large)}
      onSubmit={submit}
      role="search"
      onFocus={() => setFocused(true)}
      onBlur={({ currentTarget, relatedTarget }) => setFocused(currentTarget.contains(relatedTarget))}
    >
      <div className={css.field}>
        <Plus aria-hidden="true" />
        <textarea
          ref={field}
          rows={1}
          value={value}
          spellCheck={false}
          autoCapitalize="off"
          inputMode="url"
          enterKeyHint="go"
          aria-label="Save a link, or search"
          aria-describedby={hint}
          aria-invalid={wrong ? true : undefined}
          placeholder={large ? "Paste a link, drop a file, or search" : "Save or search"}
          onChange={(event) => {
            text.set(event.target.value);
            setWrong("");
          }}
          onKeyDown={press}
        />
        {value ? (
          <Button type="submit" look="plain" busy={busy}>
            {intent.kind === "save" ? "Save" : intent.kind === "import" ? "Import" : "Go"}
          </Button>
        ) : (
          <kbd aria-hidden="true">/</kbd>
        )}
      </div>
      <div
        id={hint}
        className={classes(css.hint, wrong && css.wrong)}
        role="status"
        hidden={!large && (!words || !focused)}
      >
        {words || (large && "A link is saved at once. Its page, picture and text follow.")}
      </div>
      {focused && intent.kind === "search" && (
        <Suspense fallback={null}>
          <Answers text={intent.text} large={large} onOpen={() => text.set("")} />
        </Suspense>
      )}
    </form>
  );
}

/** A paste outside of fields goes into the box. */
export function usePasteAnywhere(): void {
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const pasted = event.clipboardData?.getData("text/plain").trim();
      if (!pasted || isInField(event.target) || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      fillBox(pasted);
    };
    document.addEventListener("paste", paste);
    return () => document.removeEventListener("paste", paste);
  }, []);
}
