import { AudioLines, Clapperboard, File, Image, ListVideo } from "lucide-react";
import { useState } from "react";
import type { Share } from "~/api/media";
import { Blur } from "~/ui/blur";
import css from "./media.module.css";
import { playTime } from "./share-words";

const ICONS = { video: Clapperboard, audio: AudioLines, image: Image, playlist: ListVideo, file: File };

/** The picture of a share in a place of fixed size, with its length. */
export function Poster({ share }: { share: Share }) {
  const { poster } = share;
  const [failed, setFailed] = useState<string>();
  const source = poster?.thumb ?? poster?.url;
  const Icon = ICONS[share.kind ?? "file"];
  return (
    <span className={css.poster}>
      {poster?.blurhash ? <Blur hash={poster.blurhash} /> : <Icon aria-hidden="true" />}
      {source && source !== failed && (
        <img src={source} alt="" loading="lazy" decoding="async" onError={() => setFailed(source)} />
      )}
      {share.durationS !== null && <span className={css.length}>{playTime(share.durationS)}</span>}
    </span>
  );
}
