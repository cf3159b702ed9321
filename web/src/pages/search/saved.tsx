import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import {
  deleteSavedSearch,
  makeFeed,
  type Question,
  revokeFeed,
  type SavedSearch,
  savedSearchesQuery,
  saveSearch,
} from "~/api/search";
import { Failed } from "~/shell/failed";
import { failedToast, toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { Copy } from "~/ui/copy";
import { Dialog } from "~/ui/dialog";
import { Actions, Entries, Entry, Side, What } from "~/ui/entries";
import { Empty } from "~/ui/notice";
import { Section } from "~/ui/section";
import { SkeletonRows } from "~/ui/skeleton";

/** Before anything is typed: the searches that were saved. */
export function Saved() {
  const query = useQuery(savedSearchesQuery);
  return (
    <Loaded query={query} what="The saved searches" loading={<SkeletonRows rows={3} height={56} />}>
      {(saved) =>
        saved.length > 0 ? (
          <Section title="Saved searches">
            <Entries label="Saved searches">
              {saved.map((each) => (
                <SavedEntry key={each.id} saved={each} />
              ))}
            </Entries>
          </Section>
        ) : (
          <Empty title="Search everything you have">
            Articles, bookmarks with the text in their pictures, transcripts and the rows of sheets: by their words, and
            by what they mean. A search that you save can be followed as a feed.
          </Empty>
        )
      }
    </Loaded>
  );
}

function SavedEntry({ saved }: { saved: SavedSearch }) {
  const [address, setAddress] = useState<string>();
  const question = saved.question as Question;
  const feed = useMutation({ mutationFn: () => makeFeed(saved.id), onSuccess: setAddress });
  const revoke = useMutation({
    mutationFn: () => revokeFeed(saved.id),
    onSuccess: () => toast("The address of the feed is not valid any more."),
  });
  const remove = useMutation({
    mutationFn: () => deleteSavedSearch(saved.id),
    onSuccess: () => {
      const undo = () =>
        void saveSearch(saved.name, question).catch((error: unknown) =>
          failedToast("The search was not saved again.", error, undo),
        );
      toast(`“${saved.name}” is deleted.`, { label: "Undo", run: undo });
    },
  });
  return (
    <Entry>
      <What
        name={
          <Link to="/search" search={searchOf(question)}>
            {saved.name}
          </Link>
        }
      >
        <Side>{wordsOf(question, saved.hasFeed)}</Side>
        <Failed of={feed} what="The feed was not made." />
        <Failed of={revoke} what="The feed was not ended." />
        <Failed of={remove} what="The search was not deleted." />
      </What>
      <Actions>
        <Button
          busy={feed.isPending}
          aria-label={`${saved.hasFeed ? "New feed address" : "Feed"} of ${saved.name}`}
          onClick={() => feed.mutate()}
        >
          {saved.hasFeed ? "New feed address" : "Feed"}
        </Button>
        {saved.hasFeed && (
          <Button busy={revoke.isPending} aria-label={`End the feed of ${saved.name}`} onClick={() => revoke.mutate()}>
            End the feed
          </Button>
        )}
        <Button
          look="plain"
          busy={remove.isPending}
          aria-label={`Delete ${saved.name}`}
          onClick={() => remove.mutate()}
        >
          Delete
        </Button>
      </Actions>
      {address && (
        <Dialog
          title="The address of the feed"
          onClose={() => setAddress(undefined)}
          actions={
            <Button look="primary" onClick={() => setAddress(undefined)}>
              Done
            </Button>
          }
        >
          <p>
            Put it into your feed reader. It is shown only now; whoever has it can read what this search finds, until
            you end the feed.
          </p>
          <Copy text={address} label="the address of the feed" />
        </Dialog>
      )}
    </Entry>
  );
}

/** The parameters of the page that ask the same. */
export function searchOf({ q, mode, kinds, tags }: Question) {
  return {
    q,
    ...((mode === "words" || mode === "meaning") && { mode }),
    ...(kinds?.[0] && { kind: kinds[0] }),
    ...(tags?.[0] && { tag: tags[0] }),
  };
}

function wordsOf({ q, mode, kinds = [], tags = [] }: Question, hasFeed: boolean): string {
  const parts = [
    `“${q}”`,
    mode === "words" ? "by words" : mode === "meaning" ? "by meaning" : "by words and meaning",
    kinds.length > 0 && `only ${kinds.join(", ")}`,
    tags.length > 0 && `with ${tags.join(", ")}`,
    hasFeed && "with a feed",
  ];
  return parts.filter(Boolean).join(", ");
}
