const WIDTH = 120;
const HEIGHT = 28;

/** A small chart of bars without axes; its largest value is in the name. */
export function Sparkline({ values, label }: { values: number[]; label: string }) {
  const most = Math.max(1, ...values);
  const step = WIDTH / Math.max(1, values.length);
  return (
    <svg width={WIDTH} height={HEIGHT} role="img" aria-label={`${label}, at most ${most}`}>
      {values.map((value, index) => (
        <rect
          // biome-ignore lint/suspicious/noArrayIndexKey: a place in a row
          key={index}
          x={index * step}
          y={HEIGHT - Math.max(1, (HEIGHT * value) / most)}
          width={Math.max(1, step - 1)}
          height={Math.max(1, (HEIGHT * value) / most)}
          fill={value > 0 ? "var(--error-solid)" : "var(--line)"}
        />
      ))}
    </svg>
  );
}
