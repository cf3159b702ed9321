import type { ReactNode } from "react";

/** The shapes of statuses: each can be told from the others without its colour. */
const SHAPES = {
  ring: <circle cx="8" cy="8" r="5.5" />,
  quarter: (
    <>
      <circle cx="8" cy="8" r="5.5" opacity="0.45" />
      <path d="M8 2.5A5.5 5.5 0 0 1 13.5 8" strokeWidth="3" />
    </>
  ),
  check: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="currentcolor" stroke="none" />
      <path d="M5 8.2 7.2 10.4 11 6" stroke="var(--shape-inside, var(--panel))" />
    </>
  ),
  lens: (
    <>
      <circle cx="7" cy="7" r="4.5" />
      <path d="M10.3 10.3 14 14M5.5 5.5l3 3m0-3-3 3" />
    </>
  ),
  skip: <path d="M2.5 9C4 5.5 9 4 12 7.5M12.2 3.8v3.9H8.4M3 13h10" />,
  octagon: (
    <>
      <path d="M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4L1.8 10.6V5.4Z" fill="currentcolor" stroke="none" />
      <path d="M8 4.6v4M8 11v.4" stroke="var(--shape-inside, var(--panel))" />
    </>
  ),
  bars: <path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2.6" />,
  slash: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="m4.2 11.8 7.6-7.6" />
    </>
  ),
  gauge: <path d="M2.5 11.5a5.8 5.8 0 1 1 11 0M8 10.5 11 6.8" />,
  moon: <path d="M12.5 10A5.6 5.6 0 0 1 6 3.5a5.6 5.6 0 1 0 6.5 6.5Z" />,
  broken: (
    <path d="M9.5 2.7a5.5 5.5 0 0 1 3.8 3.8M13.3 9.5a5.5 5.5 0 0 1-3.8 3.8M6.5 13.3a5.5 5.5 0 0 1-3.8-3.8M2.7 6.5a5.5 5.5 0 0 1 3.8-3.8" />
  ),
  back: <path d="M13.5 8A5.5 5.5 0 1 1 10.8 3.3M10.9.9v2.6H8.3" />,
  wrench: (
    <path d="M13.6 4.6 11 7.2 8.8 5l2.6-2.6A3.8 3.8 0 0 0 6.6 7L2.3 11.3a1.7 1.7 0 0 0 2.4 2.4L9 9.4a3.8 3.8 0 0 0 4.6-4.8Z" />
  ),
} satisfies Record<string, ReactNode>;

export type ShapeName = keyof typeof SHAPES;

export function Shape({ name, size = 14, className }: { name: ShapeName; size?: number; className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      width={size}
      height={size}
      className={className}
      fill="none"
      stroke="currentcolor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {SHAPES[name]}
    </svg>
  );
}
