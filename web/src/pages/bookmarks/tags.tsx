import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { changeBookmarks, renameTag, tagsQuery } from "~/api/bookmarks";
import { Said } from "~/shell/failed";
import { useListKeys } from "~/shell/list-keys";
import { Page } from "~/shell/page";
import { toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button, buttonClass } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Field } from "~/ui/field";
import { List } from "~/ui/list";
import { Empty } from "~/ui/notice";
import { SkeletonRows } from "~/ui/skeleton";
import { plural } from "~/words";
import css from "./bookmarks.module.css";

interface Asked {
  tag: string;
  bookmarks: number;
  does: "rename" | "remove";
}

/** All tags: rename them, merge two, take one away. */
export default function TagsPage() {
  const query = useQuery(tagsQuery);
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const [asked, setAsked] = useState<Asked>();
  const tags = query.data ?? [];
  const begun = typed.trim().toLowerCase();
  const found = tags.filter(({ tag }) => tag.toLowerCase().includes(begun));
  const keys = useListKeys({
    group: "Tags",
    count: found.length,
    onOpen: (index) => void navigate({ to: "/bookmarks", search: { tag: [found[index]!.tag] } }),
  });
  return (
    <Page title="Tags" subtitle="A tag that gets the name of another one is merged with it.">
      {tags.length > 8 && (
        <div className={css.section}>
          <Field
            label="Find a tag"
            hideLabel
            type="search"
            placeholder={`Find among ${tags.length} tags`}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
      )}
      <Loaded query={query} what="The tags" loading={<SkeletonRows rows={8} height={48} />}>
        {() =>
          tags.length === 0 ? (
            <Empty
              title="No tags yet"
              actions={
                <Link to="/bookmarks" className={buttonClass()}>
                  Show the bookmarks
                </Link>
              }
            >
              Select bookmarks and press t to give them tags.
            </Empty>
          ) : found.length === 0 ? (
            <Empty title="No tag matches" actions={<Button onClick={() => setTyped("")}>Show all tags</Button>} />
          ) : (
            <List label="Tags">
              {found.map(({ tag, bookmarks }, index) => (
                <li key={tag} {...keys.rowProps(index)} className={css.manage}>
                  <Link to="/bookmarks" search={{ tag: [tag] }} className="grow cut">
                    {tag}
                  </Link>
                  <span className="muted">{plural(bookmarks, "bookmark")}</span>
                  <Button aria-label={`Rename ${tag}`} onClick={() => setAsked({ tag, bookmarks, does: "rename" })}>
                    Rename
                  </Button>
                  <Button
                    look="plain"
                    aria-label={`Remove ${tag}`}
                    onClick={() => setAsked({ tag, bookmarks, does: "remove" })}
                  >
                    Remove
                  </Button>
                </li>
              ))}
            </List>
          )
        }
      </Loaded>
      {asked?.does === "rename" && (
        <RenameDialog asked={asked} names={tags.map(({ tag }) => tag)} onClose={() => setAsked(undefined)} />
      )}
      {asked?.does === "remove" && <RemoveDialog asked={asked} onClose={() => setAsked(undefined)} />}
    </Page>
  );
}

function RenameDialog({ asked, names, onClose }: { asked: Asked; names: string[]; onClose: () => void }) {
  const [name, setName] = useState(asked.tag);
  const given = name.trim();
  const merges = given !== asked.tag && names.includes(given);
  const rename = useMutation({
    mutationFn: () => renameTag(asked.tag, given),
    onSuccess: (changed) => {
      onClose();
      toast(`${plural(changed, "bookmark")} ${changed === 1 ? "has" : "have"} the tag ${given} now.`);
    },
  });
  return (
    <Dialog
      title={`Rename ${asked.tag}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            look="primary"
            disabled={!given || given === asked.tag}
            busy={rename.isPending}
            onClick={() => rename.mutate()}
          >
            {merges ? "Merge" : "Rename"} in {plural(asked.bookmarks, "bookmark")}
          </Button>
        </>
      }
    >
      <Field
        label="Name"
        value={name}
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
        hint={merges ? `There is a tag ${given} already: the two are merged.` : "Commas are not part of a tag."}
        {...(rename.error && { wrong: rename.error.message })}
      />
    </Dialog>
  );
}

function RemoveDialog({ asked, onClose }: { asked: Asked; onClose: () => void }) {
  const remove = useMutation({
    mutationFn: () =>
      changeBookmarks({ filter: { tags: [asked.tag], archived: null } }, { do: "untag", tags: [asked.tag] }),
    onSuccess: (changed) => {
      onClose();
      toast(`The tag was removed from ${plural(changed, "bookmark")}.`);
    },
  });
  return (
    <Dialog
      title={`Remove the tag ${asked.tag}?`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
            Remove it from {plural(asked.bookmarks, "bookmark")}
          </Button>
        </>
      }
    >
      <p>The bookmarks stay. Which of them had this tag is not kept.</p>
      <Said error={remove.error} />
    </Dialog>
  );
}
