import { useRef, useState } from "react";
import { Button } from "./button";

/** A text that is copied as a whole. Where the clipboard is not available, as over plain HTTP, it is selected. */
export function Copy({ text, label, className }: { text: string; label: string; className?: string | undefined }) {
  const [said, setSaid] = useState("Copy");
  const ref = useRef<HTMLElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      getSelection()?.selectAllChildren(ref.current!);
      setSaid("Selected: press Ctrl C");
    }
  };
  return (
    <>
      <code ref={ref} className={className}>
        {text}
      </code>
      <span className="row">
        <Button aria-label={`${said} ${label}`} onClick={() => void copy()}>
          {said}
        </Button>
      </span>
    </>
  );
}
