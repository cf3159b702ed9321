import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { categoriesQuery, changeBookmark, mergeDuplicate, type WholeBookmark } from "~/api/bookmarks";
import { Failed, Said } from "~/shell/failed";
import { toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { Facts } from "~/ui/facts";
import { Field, Select, TextArea } from "~/ui/field";
import { Notice } from "~/ui/notice";
import { Time } from "~/ui/time";
import css from "./bookmarks.module.css";

const EVERY = [
  { value: "", label: "Only when asked" },
  { value: "24", label: "Every day" },
  { value: "168", label: "Every week" },
  { value: "720", label: "Every 30 days" },
];

/** What is known about the page, and what the person has added. */
export function BookmarkFacts({ bookmark }: { bookmark: WholeBookmark }) {
  const facts: [string, ReactNode][] = [
    ["Address", <Away key="url" url={bookmark.url} />],
    [
      "Canonical",
      bookmark.canonicalUrl && bookmark.canonicalUrl !== bookmark.url && <Away key="c" url={bookmark.canonicalUrl} />,
    ],
    ["Description", bookmark.description],
    ["Author", bookmark.author],
    ["Published", bookmark.publishedAt && <Time value={bookmark.publishedAt} />],
    ["Language", bookmark.language],
    ["Answer of the site", bookmark.httpStatus],
    ["Saved", <Time key="saved" value={bookmark.createdAt} />],
    ["Last read", bookmark.crawledAt && <Time value={bookmark.crawledAt} />],
    ["Last changed", bookmark.changedAt && <Time value={bookmark.changedAt} />],
    ["Next reading", bookmark.nextCrawlAt && <Time value={bookmark.nextCrawlAt} />],
  ];
  return (
    <div className="stack">
      <Duplicate bookmark={bookmark} />
      <Facts facts={facts} />
      <Own bookmark={bookmark} />
    </div>
  );
}

function Away({ url }: { url: string }) {
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {url}
    </a>
  );
}

/** Title, note, category and interval: saved together, and only what was changed here. The page may be read meanwhile. */
function Own({ bookmark }: { bookmark: WholeBookmark }) {
  const categories = useQuery(categoriesQuery).data ?? [];
  const [title, setTitle] = useState<string>();
  const [note, setNote] = useState<string>();
  const [categoryId, setCategoryId] = useState<string>();
  const [every, setEvery] = useState<string>();
  const hours = bookmark.crawlEveryHours === null ? "" : String(bookmark.crawlEveryHours);
  const save = useMutation({
    mutationFn: () =>
      changeBookmark(bookmark.id, {
        ...(title !== undefined && { title: title.trim() || null }),
        ...(note !== undefined && { note: note.trim() || null }),
        ...(categoryId !== undefined && { categoryId: categoryId || null }),
        ...(every !== undefined && { crawlEveryHours: every ? Number(every) : null }),
      }),
    onSuccess: () => toast("Saved."),
  });
  const options = EVERY.some((each) => each.value === hours)
    ? EVERY
    : [...EVERY, { value: hours, label: `Every ${hours} h` }];
  return (
    <form
      className={css.section}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Field
        label="Title"
        value={title ?? bookmark.title ?? ""}
        maxLength={1000}
        onChange={(event) => setTitle(event.target.value)}
      />
      <TextArea
        label="Note"
        rows={3}
        value={note ?? bookmark.note ?? ""}
        onChange={(event) => setNote(event.target.value)}
      />
      <div className={css.two}>
        <Select
          label="Category"
          value={categoryId ?? bookmark.categoryId ?? ""}
          onChange={setCategoryId}
          options={[{ value: "", label: "None" }, ...categories.map((each) => ({ value: each.id, label: each.name }))]}
        />
        <Select label="Read again" value={every ?? hours} onChange={setEvery} options={options} />
      </div>
      <Said error={save.error} />
      <div className="row">
        <Button type="submit" look="primary" busy={save.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}

function Duplicate({ bookmark }: { bookmark: WholeBookmark }) {
  const merge = useMutation({
    mutationFn: () => mergeDuplicate(bookmark.id),
    onSuccess: () => toast("Merged: its tags and note are with the other one now."),
  });
  if (!bookmark.duplicateOf) return null;
  return (
    <Notice
      title="This page is saved twice."
      actions={
        <>
          <Button busy={merge.isPending} onClick={() => merge.mutate()}>
            Merge into the other one
          </Button>
          <Failed of={merge} what="They were not merged." />
        </>
      }
    >
      <Link to="/bookmarks/$id" params={{ id: bookmark.duplicateOf }}>
        The other one
      </Link>{" "}
      leads to the same page.
    </Notice>
  );
}
