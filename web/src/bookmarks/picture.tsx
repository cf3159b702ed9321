import { useState } from "react";
import type { Bookmark } from "~/api/bookmarks";
import { host } from "~/format";
import { Blur } from "~/ui/blur";
import css from "./bookmark.module.css";

/** The picture of a card, in a place of fixed size: its colours first, then the thumbnail. */
export function Picture({ bookmark }: { bookmark: Bookmark }) {
  const file = bookmark.files.image ?? bookmark.files.screenshot;
  const [failed, setFailed] = useState<string>();
  const source = file?.thumb ?? file?.url;
  return (
    <span className={css.picture}>
      {file?.blurhash ? (
        <Blur hash={file.blurhash} />
      ) : (
        <span className={css.initial} aria-hidden="true">
          {host(bookmark.url)[0]}
        </span>
      )}
      {source && source !== failed && (
        <img src={source} alt="" loading="lazy" decoding="async" onError={() => setFailed(source)} />
      )}
    </span>
  );
}

/** The site's icon, or its first letter. */
export function Icon({ bookmark }: { bookmark: Bookmark }) {
  const file = bookmark.files.favicon;
  return file ? (
    <img className={css.icon} src={file.url} alt="" loading="lazy" width={16} height={16} />
  ) : (
    <span className={css.icon} aria-hidden="true">
      {host(bookmark.url)[0]}
    </span>
  );
}
