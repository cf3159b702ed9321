import css from "./skeleton.module.css";

/** A grey place with the size of what is loaded; it appears after 150 ms. */
export function Skeleton({ width = "100%", height = 16 }: { width?: number | string; height?: number | string }) {
  return <span className={css.skeleton} style={{ width, height }} aria-hidden="true" />;
}

/** Rows of a list while it is loaded. */
export function SkeletonRows({ rows = 6, height = 40 }: { rows?: number; height?: number }) {
  return (
    <div role="status" className="stack" style={{ gap: 1 }}>
      <span className="only-heard">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all alike
        <Skeleton key={index} height={height} />
      ))}
    </div>
  );
}
