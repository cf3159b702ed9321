import { useNavigate, useRouter } from "@tanstack/react-router";

declare module "@tanstack/history" {
  interface HistoryState {
    /** The step before this one is the list, with nothing open beside it. */
    isOpened?: boolean;
  }
}

let left: object | undefined; // the state of the step that was left: a second press may come before the browser has gone back

type Change = Record<string, string | number | undefined>;

/**
 * What is open beside a list is in the URL. Opening adds a step to the history, so that Back closes it; what is opened
 * after that takes its place. Closing goes back, if that is where the list is.
 */
export function useOpened() {
  const navigate = useNavigate();
  const router = useRouter();
  const go = (change: Change, how: { replace: boolean; state?: true | { isOpened: boolean } }) =>
    void navigate({ to: ".", search: (now) => ({ ...now, ...change }), resetScroll: false, ...how });
  return {
    open: (change: Change, isOpen: boolean) => go(change, { replace: isOpen, state: isOpen || { isOpened: true } }),
    close: (change: Change) => {
      const { state } = router.state.location;
      if (!state.isOpened) go(change, { replace: true });
      else if (state !== left) router.history.back();
      left = state;
    },
  };
}
