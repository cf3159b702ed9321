import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Download, ExternalLink, RefreshCw, Trash2 } from "lucide-react";
import { useRef } from "react";
import { deleteShare, hideShare, refreshShares, retryShare, type Share, shareQuery } from "~/api/media";
import { useCommands } from "~/shell/commands";
import { Failed } from "~/shell/failed";
import { Page } from "~/shell/page";
import { failedToast, held } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button, buttonClass } from "~/ui/button";
import { Notice } from "~/ui/notice";
import { Skeleton } from "~/ui/skeleton";
import { Why } from "~/why/why";
import { sentence } from "~/words";
import { Entries } from "./entries";
import { ShareFacts } from "./facts";
import css from "./media.module.css";
import { Player, type PlayerHandle } from "./player";
import { sourceOf, titleOf } from "./share-words";
import { TranscriptPart } from "./transcript-part";
import { useFollowedShares } from "./use-followed";

const route = getRouteApi("/media/$id");

/** One share: its player, what is said in it, and what is known of it. */
export default function SharePage() {
  const { id } = route.useParams();
  const query = useQuery(shareQuery(id));
  useFollowedShares(query.data ? [query.data] : []);
  const share = query.data;
  return (
    <Page
      title={share ? titleOf(share) : "Media"}
      heading={<span className={css.heading}>{share ? titleOf(share) : "Media"}</span>}
      wide
      subtitle={
        <>
          <Link to="/media">Media</Link>
          {share && sourceOf(share) && `, ${sourceOf(share)}`}
        </>
      }
      actions={share && <Actions share={share} />}
    >
      <Loaded query={query} what="The media" loading={<Skeleton height={360} />}>
        {(found) => <Whole share={found} />}
      </Loaded>
    </Page>
  );
}

function Whole({ share }: { share: Share }) {
  const { t, q } = route.useSearch();
  const player = useRef<PlayerHandle>(null);
  const isOpen = share.status === "PENDING" || share.status === "PROCESSING";
  return (
    <div className={css.whole}>
      <div className={css.main}>
        {share.kind !== "playlist" && <Player ref={player} share={share} start={t} />}
        <Trouble share={share} />
        {share.description && <p className={css.about}>{share.description}</p>}
        <ShareFacts share={share} />
        {share.kind === "playlist" && <Entries playlistId={share.id} />}
        {isOpen && share.jobId && <Why jobId={share.jobId} itemId={share.item} />}
      </div>
      <div className={css.main}>
        <TranscriptPart share={share} player={player} search={q} />
      </div>
    </div>
  );
}

/** Why there is no file, and what to do. */
function Trouble({ share }: { share: Share }) {
  const again = useMutation({ mutationFn: () => retryShare(share.id) });
  if (share.fileState !== "failed" && share.fileState !== "removed") return null;
  const isRemoved = share.fileState === "removed";
  return (
    <>
      <Notice
        kind={isRemoved ? "info" : "error"}
        title={isRemoved ? "The file was removed to save space." : "The file could not be downloaded."}
        actions={
          <Button busy={again.isPending} onClick={() => again.mutate()}>
            Download again
          </Button>
        }
      >
        {isRemoved
          ? "What is known of it is kept, and so is its transcript."
          : share.downloadError && sentence(share.downloadError)}
      </Notice>
      <Failed of={again} what="It was not started again." />
    </>
  );
}

function Actions({ share }: { share: Share }) {
  const navigate = useNavigate();
  const again = useMutation({ mutationFn: () => retryShare(share.id) });
  const remove = async () => {
    void navigate({ to: "/media" });
    hideShare(share.id);
    if (!(await held(`“${titleOf(share)}” is deleted.`))) return refreshShares();
    const run = () =>
      void deleteShare(share.id).catch((error: unknown) => failedToast("It was not deleted.", error, run));
    run();
  };
  useCommands([
    { id: "share-delete", title: "Delete", group: "Media", keys: "#", run: () => void remove() },
    ...(share.url
      ? [
          {
            id: "share-original",
            title: "Open the original",
            group: "Media",
            keys: "o",
            run: () => void globalThis.open(share.url!, "_blank", "noopener"),
          },
        ]
      : []),
  ]);
  const canRetry = share.status === "ERROR" || share.status === "NOT_FOUND" || share.transcriptStatus === "failed";
  return (
    <>
      {share.url && (
        <a href={share.url} target="_blank" rel="noreferrer" className={buttonClass()} title="Open the original (o)">
          <ExternalLink /> <span>Original</span>
        </a>
      )}
      {share.file && (
        <a href={share.file.url} download className={buttonClass()}>
          <Download /> <span>File</span>
        </a>
      )}
      {canRetry && (
        <Button busy={again.isPending} onClick={() => again.mutate()}>
          <RefreshCw /> <span>Again</span>
        </Button>
      )}
      <Button icon aria-label="Delete" shortcut="#" onClick={() => void remove()}>
        <Trash2 />
      </Button>
    </>
  );
}
