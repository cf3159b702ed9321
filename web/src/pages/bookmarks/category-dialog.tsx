import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Bookmark, categoriesQuery } from "~/api/bookmarks";
import { api, queryClient, take } from "~/api/client";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Field, Select } from "~/ui/field";
import { plural } from "~/words";

interface CategoryDialogProps {
  bookmarks: Bookmark[];
  /** How many are changed: also those that are not loaded. */
  count: number;
  onClose: () => void;
  onSave: (category: { id: string; name: string } | null) => void;
}

/** Move bookmarks to a category, which may be new. */
export function CategoryDialog({ bookmarks, count, onClose, onSave }: CategoryDialogProps) {
  const categories = useQuery(categoriesQuery).data ?? [];
  const [chosen, setChosen] = useState(bookmarks[0]?.categoryId ?? "");
  const [name, setName] = useState("");
  const save = useMutation({
    mutationFn: async () => {
      if (!name.trim()) return categories.find((each) => each.id === chosen) ?? null;
      const made = await take(api.POST("/api/bookmarks/categories", { body: { name: name.trim() } }));
      void queryClient.invalidateQueries({ queryKey: ["bookmarks", "categories"] });
      return made;
    },
    onSuccess: onSave,
  });
  return (
    <Dialog
      title={`Category of ${plural(count, "bookmark")}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" busy={save.isPending} onClick={() => save.mutate()}>
            Move
          </Button>
        </>
      }
    >
      <Select
        label="Category"
        value={chosen}
        onChange={setChosen}
        options={[{ value: "", label: "None" }, ...categories.map((each) => ({ value: each.id, label: each.name }))]}
      />
      <Field
        label="Or a new one"
        value={name}
        maxLength={200}
        onChange={(event) => setName(event.target.value)}
        {...(save.error && { wrong: save.error.message })}
      />
    </Dialog>
  );
}
