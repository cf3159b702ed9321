import { useRouter } from "@tanstack/react-router";
import type { MouseEvent, ReactNode } from "react";
import type { Hit } from "~/api/search";
import { placeOf } from "./place";

interface HitLinkProps {
  hit: Hit;
  className?: string;
  onOpen?: () => void;
  children: ReactNode;
}

/** A link to what was found: a page of the app, or the original of what has none. */
export function HitLink({ hit, className, onOpen, children }: HitLinkProps) {
  const { history } = useRouter();
  const place = placeOf(hit);
  if (!place) {
    const href = hit.url && /^https?:\/\//i.test(hit.url) ? hit.url : undefined;
    return (
      <a className={className} href={href} target="_blank" rel="noreferrer" onClick={onOpen}>
        {children}
      </a>
    );
  }
  const open = (event: MouseEvent) => {
    onOpen?.();
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    history.push(place);
  };
  return (
    <a className={className} href={place} onClick={open}>
      {children}
    </a>
  );
}
