import { useMutation } from "@tanstack/react-query";
import { getRouteApi, Link, useLocation } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { newKey, saveLink } from "~/api/links";
import { ProblemError } from "~/api/problem";
import { type Given, givenBy } from "~/shell/given";
import { keepLink } from "~/shell/outbox";
import { Page } from "~/shell/page";
import { Bookmarklet } from "~/ui/bookmarklet";
import { Button, buttonClass } from "~/ui/button";
import { classes } from "~/ui/classes";
import { Field, TextArea } from "~/ui/field";
import { sentence } from "~/words";
import css from "./save.module.css";
import { SharedFiles } from "./shared-files";

const route = getRouteApi("/save");

/** Where the bookmarklet and the share menu of a phone lead. */
export default function SaveALinkPage() {
  const search = route.useSearch();
  const hash = useLocation({ select: (location) => location.hash });
  const given = givenBy(search, hash);
  return (
    <Page title="Save a link">
      {search.files ? <SharedFiles /> : <SaveForm key={`${given.url} ${hash}`} given={given} />}
      {!given.url && !search.files && <FromAnyPage />}
    </Page>
  );
}

type Saved = { id: string; created: boolean } | "kept";

function SaveForm({ given }: { given: Given }) {
  const [url, setUrl] = useState(given.url);
  const [title, setTitle] = useState(given.title);
  const [note, setNote] = useState(given.note);
  const [tags, setTags] = useState("");
  const key = useRef(newKey());
  const save = useMutation({
    mutationFn: async (): Promise<Saved> => {
      const more = {
        ...(title.trim() && { title: title.trim() }),
        ...(note.trim() && { note: note.trim() }),
        tags: tags
          .split(",")
          .map((tag) => tag.trim())
          .filter(Boolean),
      };
      try {
        return await saveLink(url.trim(), more, key.current);
      } catch (error) {
        if (!(error instanceof ProblemError) || error.status !== 0 || !("indexedDB" in globalThis)) throw error;
        await keepLink({ key: key.current, url: url.trim(), ...more });
        return "kept";
      }
    },
  });
  const problem = save.error instanceof ProblemError ? save.error : undefined;
  const wrongUrl = problem?.at("url");
  if (save.data) return <SavedNote saved={save.data} url={url} />;
  return (
    <form
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Field
        label="Address"
        type="url"
        inputMode="url"
        placeholder="https://"
        required
        maxLength={8192}
        autoFocus={!given.url}
        value={url}
        onChange={(event) => {
          key.current = newKey();
          setUrl(event.target.value);
        }}
        {...(wrongUrl && { wrong: sentence(`The address ${wrongUrl}`) })}
      />
      <Field
        label="Title"
        maxLength={1000}
        placeholder="From the page itself"
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      <TextArea label="Note" rows={3} value={note} onChange={(event) => setNote(event.target.value)} />
      <Field label="Tags" hint="Separated by commas." value={tags} onChange={(event) => setTags(event.target.value)} />
      {save.error && !wrongUrl && <p role="alert">{sentence(save.error.message)}</p>}
      <div className="row">
        <Button type="submit" look="primary" busy={save.isPending} autoFocus={Boolean(given.url)}>
          Save
        </Button>
      </div>
    </form>
  );
}

function SavedNote({ saved, url }: { saved: Saved; url: string }) {
  const words =
    saved === "kept"
      ? "Kept on this device, sent when you are online."
      : saved.created
        ? "Saved. It fills in as its page is read."
        : "It was saved already.";
  return (
    <div className={css.form}>
      <p role="status">
        <strong>{words}</strong>
      </p>
      <p className="muted cut">{url}</p>
      <div className="row">
        {saved !== "kept" && (
          <Link to="/bookmarks/$id" params={{ id: saved.id }} className={buttonClass("primary")}>
            Show it
          </Link>
        )}
        <Link to="/save" className={buttonClass()} reloadDocument>
          Save another
        </Link>
      </div>
    </div>
  );
}

function FromAnyPage() {
  return (
    <section className={classes(css.form, css.byPointer)} aria-labelledby="bookmarklet">
      <h2 id="bookmarklet">From any page, with one click</h2>
      <p>
        Drag this to the bookmarks bar of your browser. On a page that you want to save, click it there; what is
        selected becomes the note.
      </p>
      <p>
        <Bookmarklet />
      </p>
    </section>
  );
}
