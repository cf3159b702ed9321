import { clock } from "~/format";
import { type LiveState, live, useLiveState } from "~/live";
import { classes } from "~/ui/classes";
import css from "./live-line.module.css";

export function liveWords(state: LiveState): string {
  switch (state.is) {
    case "live":
    case "idle":
      return "Live";
    case "catching-up":
      return "Catching up";
    case "polling":
      return `Polling every ${state.everyS} s`;
    case "offline":
      return `Offline since ${clock(state.since)}`;
    case "paused":
      return "Paused by you";
  }
}

/** Whether what is shown is fresh. Pressing it stops and continues updates. */
export function LiveLine() {
  const state = useLiveState();
  const words = liveWords(state);
  return (
    <button
      type="button"
      className={css.line}
      data-is={state.is}
      onClick={() => live.toggle()}
      aria-keyshortcuts="l"
      title={`${words}. Press to ${state.is === "paused" ? "continue" : "pause"} updates (l)`}
    >
      <span className={classes(css.dot, css[state.is])} aria-hidden="true" />
      <span>{words}</span>
    </button>
  );
}
