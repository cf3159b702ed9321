import { useEffect, useRef } from "react";
import { Button } from "./button";

interface MoreProps {
  /** Whether there is more, or may be. */
  hasMore: boolean;
  isLoading: boolean;
  onMore: () => void;
  /** How far a bounded search has looked, in words. */
  searched?: string | undefined;
}

/** The end of a list that loads the next page when it comes into view. */
export function More({ hasMore, isLoading, onMore, searched }: MoreProps) {
  const end = useRef<HTMLDivElement>(null);
  const more = useRef(onMore);
  more.current = onMore;
  useEffect(() => {
    if (!hasMore || isLoading || !end.current) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && more.current(), {
      rootMargin: "400px",
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [hasMore, isLoading]);
  if (!hasMore) return null;
  return (
    <div ref={end} className="row">
      <Button look="plain" busy={isLoading} onClick={onMore}>
        {isLoading ? "Loading" : "Load more"}
      </Button>
      {searched && <span className="muted">{searched}</span>}
    </div>
  );
}
