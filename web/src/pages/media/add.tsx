import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { addShares } from "~/api/media";
import { ProblemError } from "~/api/problem";
import { Failure } from "~/shell/failed";
import { urlIn } from "~/shell/intent";
import { toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { TextArea } from "~/ui/field";
import { plural } from "~/words";
import css from "./media.module.css";

/** The links of a text, a line or a word each, and what of it is none. */
export function linksIn(text: string): { urls: string[]; others: string[] } {
  const said = text.split(/\s+/).filter(Boolean);
  const urls = said.map((each) => urlIn(each));
  return {
    urls: [...new Set(urls.filter((url) => url !== undefined))],
    others: said.filter((_, at) => urls[at] === undefined),
  };
}

/** Links are saved at once, and downloaded in the background. */
export function AddMedia() {
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState<string>();
  const add = useMutation({
    mutationFn: addShares,
    onSuccess: (added) => {
      setText("");
      toast(`${plural(added.length, "link")} saved. ${added.length === 1 ? "It is" : "They are"} downloaded now.`);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { urls, others } = linksIn(text);
    if (others.length > 0) return setWrong(`“${others[0]}” is not a link.`);
    if (urls.length === 0) return setWrong("Paste a link first.");
    add.mutate(urls);
  };
  const refused = add.error instanceof ProblemError ? add.error.at("shares.0.url") : undefined;
  return (
    <form className={css.add} onSubmit={submit}>
      <TextArea
        label="Links to videos, sound, pictures or playlists"
        rows={text.includes("\n") ? 4 : 1}
        placeholder="https://"
        spellCheck={false}
        value={text}
        wrong={wrong ?? refused}
        onChange={(event) => {
          setText(event.target.value);
          setWrong(undefined);
          add.reset();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
        }}
      />
      <Button type="submit" look="primary" busy={add.isPending}>
        Download
      </Button>
      {add.error && !refused && (
        <Failure
          error={add.error}
          what="The links were not saved."
          onClose={add.reset}
          onRetry={() => add.mutate(linksIn(text).urls)}
        />
      )}
    </form>
  );
}
