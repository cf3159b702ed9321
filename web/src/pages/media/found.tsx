import { parts } from "./lines";

/** A text in which the searched words are marked. */
export function Found({ text, words }: { text: string; words: string }) {
  return parts(text, words).map(({ text: part, isFound, at }) => (isFound ? <mark key={at}>{part}</mark> : part));
}
