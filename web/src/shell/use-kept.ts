import { useEffect, useState } from "react";
import { keep, onKept } from "./kept";

/** A choice as `read` finds it on this device, and a way to change it. What comes from the account meanwhile is shown: a
 * change would otherwise replace it by what was shown before. */
export function useKept<T>(name: string, read: () => T): [T, (next: T) => void] {
  const [value, setValue] = useState(read);
  useEffect(() => onKept((changed, isFromServer) => isFromServer && changed === name && setValue(read())));
  const change = (next: T) => {
    setValue(next);
    keep(name, next);
  };
  return [value, change];
}
