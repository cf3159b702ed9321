import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useState } from "react";
import { type Bookmark, tagsQuery } from "~/api/bookmarks";
import { Button } from "~/ui/button";
import { Combobox } from "~/ui/combobox";
import { Dialog } from "~/ui/dialog";
import { plural } from "~/words";
import css from "./bookmarks.module.css";

interface TagDialogProps {
  bookmarks: Bookmark[];
  /** How many are changed: also those that are not loaded. */
  count: number;
  onClose: () => void;
  onSave: (added: string[], removed: string[]) => void;
}

/** The tags that all of the bookmarks, or some of them, have; others can be added. */
export function TagDialog({ bookmarks, count, onClose, onSave }: TagDialogProps) {
  const before = [...new Set(bookmarks.flatMap((each) => each.tags))].sort();
  const [tags, setTags] = useState(before);
  const [text, setText] = useState("");
  const known = useQuery(tagsQuery).data ?? [];
  const given = (more: string) => [
    ...new Set([
      ...tags,
      ...more
        .split(",")
        .map((tag) => tag.trim())
        .filter(Boolean),
    ]),
  ];
  const add = (tag: string) => {
    setTags(given(tag));
    setText("");
  };
  const save = () => {
    const now = given(text);
    onSave(
      now.filter((tag) => !bookmarks.every((each) => each.tags.includes(tag)) && !before.includes(tag)),
      before.filter((tag) => !now.includes(tag)),
    );
  };
  const begun = text.trim().toLowerCase();
  const choices = known
    .filter(({ tag }) => tag.toLowerCase().startsWith(begun) && !tags.includes(tag))
    .slice(0, 8)
    .map(({ tag, bookmarks: uses }) => ({ key: tag, label: tag, detail: <span className="muted">{uses}</span> }));
  return (
    <Dialog
      title={`Tags of ${plural(count, "bookmark")}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" onClick={save}>
            Save the tags
          </Button>
        </>
      }
    >
      <ul className={css.editTags} aria-label="Tags">
        {tags.map((tag) => (
          <li key={tag} className={css.tag}>
            {tag}
            <Button
              look="plain"
              icon
              aria-label={`Remove ${tag}`}
              onClick={() => setTags(tags.filter((each) => each !== tag))}
            >
              <X />
            </Button>
          </li>
        ))}
        {tags.length === 0 && <li className="muted">No tags yet.</li>}
      </ul>
      <Combobox
        label="Add a tag"
        value={text}
        onChange={setText}
        choices={begun ? choices : []}
        onChoose={(choice) => add(choice.label)}
        onEnter={add}
        placeholder="Enter adds it"
      />
    </Dialog>
  );
}
