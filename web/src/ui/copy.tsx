import { Check, Copy as CopyIcon } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "./button";
import css from "./copy.module.css";

/** A text that is copied as a whole. Where the clipboard is not available, as over plain HTTP, it is selected. */
export function Copy({ text, label }: { text: string; label: string }) {
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
    <div className={css.copy}>
      <code ref={ref}>{text}</code>
      {said !== "Copy" && <span role="status">{said}</span>}
      <Button look="plain" icon aria-label={`${said} ${label}`} onClick={() => void copy()}>
        {said === "Copied" ? <Check /> : <CopyIcon />}
      </Button>
    </div>
  );
}
