import { useEffect, useState } from "react";

const TYPING_MS = 150;

/** A text when nobody has typed for a moment; an empty one at once. */
export function useTyped(text: string): string {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), text ? TYPING_MS : 0);
    return () => clearTimeout(timer);
  }, [text]);
  return text && typed;
}
