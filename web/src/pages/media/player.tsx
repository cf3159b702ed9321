import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import type { Share } from "~/api/media";
import { useCommands } from "~/shell/commands";
import css from "./media.module.css";
import { Poster } from "./poster";
import { Progress } from "./progress";
import { titleOf } from "./share-words";

const STEP_S = 5;

/** What other parts of the page may do with the player. */
export interface PlayerHandle {
  seek: (second: number) => void;
  /** Call at each change of the time; returns how to stop. */
  onTime: (listener: (second: number) => void) => () => void;
}

interface PlayerProps {
  share: Share;
  /** The second to begin at. */
  start: number | undefined;
  ref: Ref<PlayerHandle>;
}

/** The file with the browser's own controls; until it is there, its picture and how far its download is. */
export function Player({ share, start, ref }: PlayerProps) {
  const media = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  useImperativeHandle(ref, () => ({
    seek: (second) => {
      if (!media.current) return;
      media.current.currentTime = second;
      // A browser may refuse to play before the page was touched: the place is shown all the same.
      media.current.play().catch(() => undefined);
    },
    onTime: (listener) => {
      const element = media.current;
      if (!element) return () => undefined;
      const tell = () => listener(element.currentTime);
      element.addEventListener("timeupdate", tell);
      element.addEventListener("seeked", tell);
      return () => {
        element.removeEventListener("timeupdate", tell);
        element.removeEventListener("seeked", tell);
      };
    },
  }));
  useEffect(() => {
    if (start !== undefined && media.current) media.current.currentTime = start;
  }, [start]);
  const skip = (by: number) => {
    if (media.current) media.current.currentTime += by;
  };
  const toggle = () => {
    if (media.current?.paused) media.current.play().catch(() => undefined);
    else media.current?.pause();
  };
  const plays = share.file !== null && (share.kind === "video" || share.kind === "audio");
  useCommands(
    plays
      ? [
          { id: "media-toggle", title: "Play or pause", group: "Media", keys: " ", run: toggle, hidden: true },
          {
            id: "media-back",
            title: `${STEP_S} s back`,
            group: "Media",
            keys: "ArrowLeft",
            run: () => skip(-STEP_S),
            hidden: true,
          },
          {
            id: "media-forward",
            title: `${STEP_S} s forward`,
            group: "Media",
            keys: "ArrowRight",
            run: () => skip(STEP_S),
            hidden: true,
          },
        ]
      : [],
  );
  const { file } = share;
  const name = titleOf(share);
  if (!file) {
    return (
      <div className={css.waiting}>
        {share.progress ? <Progress progress={share.progress} /> : <Poster share={share} />}
      </div>
    );
  }
  if (share.kind === "image") return <img className={css.player} src={file.url} alt={name} />;
  const captions = share.transcript && (
    <track kind="captions" src={`${share.transcript}.vtt`} srcLang={share.language ?? "en"} label="Transcript" />
  );
  if (share.kind === "audio") {
    return (
      // biome-ignore lint/a11y/useMediaCaption: they come with the transcript
      <audio ref={media} className={css.player} src={file.url} controls preload="metadata" aria-label={name}>
        {captions}
      </audio>
    );
  }
  if (share.kind !== "video") return null;
  return (
    // biome-ignore lint/a11y/useMediaCaption: they come with the transcript
    <video
      ref={media}
      className={css.player}
      style={share.width && share.height ? { aspectRatio: `${share.width} / ${share.height}` } : undefined}
      src={file.url}
      poster={share.poster?.url}
      controls
      preload="metadata"
      aria-label={name}
    >
      {captions}
    </video>
  );
}
