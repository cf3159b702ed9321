import { generate } from "lean-qr";
import css from "./admin.module.css";

const QUIET = 4; // the margin that readers need, in modules

/** A text as a QR code, dark on white in every theme: readers expect that. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const code = generate(text);
  const size = code.size + 2 * QUIET;
  const modules: string[] = [];
  for (let y = 0; y < code.size; y += 1)
    for (let x = 0; x < code.size; x += 1) if (code.get(x, y)) modules.push(`M${x + QUIET} ${y + QUIET}h1v1h-1z`);
  return (
    <figure className={css.code}>
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
        <rect width={size} height={size} fill="#fff" />
        <path d={modules.join("")} fill="#000" />
      </svg>
      <figcaption>For the camera of a phone</figcaption>
    </figure>
  );
}
