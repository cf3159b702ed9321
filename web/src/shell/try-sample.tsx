import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { saveLink } from "~/api/links";
import { Button, type Look } from "~/ui/button";
import { Failed } from "./failed";
import { handOver } from "./handover";
import { toast } from "./toasts";

const LINK = "https://en.wikipedia.org/wiki/Forebay_(reservoir)";

/** Save a page as somebody would who has pasted its link. */
export function TryLink({ look }: { look?: Look }) {
  const navigate = useNavigate();
  const save = useMutation({
    mutationFn: () => saveLink(LINK),
    onSuccess: ({ id, created }) =>
      toast(created ? "Saved. It fills in as its page is read." : "It was saved already.", {
        label: "Show",
        run: () => void navigate({ to: "/bookmarks/$id", params: { id } }),
      }),
  });
  return (
    <>
      <Button look={look} busy={save.isPending} title={LINK} onClick={() => save.mutate()}>
        Save a sample link
      </Button>
      <Failed of={save} what="The link was not saved." />
    </>
  );
}

/** Open the page of a new sheet as if a file had been dropped. */
export function TrySheet({ look }: { look?: Look }) {
  const navigate = useNavigate();
  const open = useMutation({
    mutationFn: async () => {
      const { sampleSheet } = await import("./samples");
      handOver([sampleSheet()]);
      await navigate({ to: "/sheets/new" });
    },
  });
  return (
    <>
      <Button look={look} busy={open.isPending} onClick={() => open.mutate()}>
        Try a sample sheet
      </Button>
      <Failed of={open} what="The sample was not loaded." />
    </>
  );
}
