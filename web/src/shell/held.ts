import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { failedToast, held } from "./toasts";

interface Held<V> {
  /** What is said while it can be undone. */
  words: (given: V) => string;
  /** What is said if it fails. */
  what: string;
  send: (given: V) => Promise<unknown>;
}

/** An action that is held back for Undo, and sent once, however often it is started meanwhile. Its error belongs to its
 * place; if that was left, a toast says it. The data are true if it was sent, and false after Undo. */
export function useHeld<V = void>({ words, what, send }: Held<V>) {
  const isLeft = useRef(false);
  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
    };
  }, []);
  const action = useMutation({
    mutationFn: async (given: V) => {
      if (!(await held(words(given)))) return false;
      await send(given);
      return true;
    },
    onError: (error, given) => isLeft.current && sayFailed(what, error, () => send(given)),
  });
  return { ...action, mutate: (given: V) => action.isPending || action.mutate(given) };
}

function sayFailed(what: string, error: unknown, send: () => Promise<unknown>): void {
  failedToast(what, error, () => void send().catch((again: unknown) => sayFailed(what, again, send)));
}
