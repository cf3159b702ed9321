import css from "./skeleton.module.css";

/** A grey place with the size of what is loaded; it appears after 150 ms. */
export function Skeleton({ width = "100%", height = 16 }: { width?: number | string; height?: number | string }) {
  return <span className={css.skeleton} style={{ width, height }} aria-hidden="true" />;
}

const TWO_LINES = 48; // rows from this height on have a line below their name

/** Rows of a list or table while it is loaded: its frame, and a grey place for each text. */
export function SkeletonRows({ rows = 6, height = 40 }: { rows?: number; height?: number }) {
  return (
    <div role="status" className={css.rows}>
      <span className="only-heard">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all alike
        <div key={index} className={css.row} style={{ height }}>
          <span className={css.what}>
            <Skeleton height={12} />
            {height >= TWO_LINES && <Skeleton width="60%" height={10} />}
          </span>
          <Skeleton width={72} height={12} />
        </div>
      ))}
    </div>
  );
}
