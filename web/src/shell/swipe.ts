import { type PointerEvent, useRef } from "react";

interface Swipe {
  onRight: () => void;
  onLeft: () => void;
}

const BEGINS_PX = 12; // a shorter way is a tap
const ACTS_PX = 88;
const SLOPE = 1.5; // a way that is less level scrolls the page

/** A row that a finger moves sideways: far enough to one side, it acts. The element moves along and needs
 * `touch-action: pan-y`; its parent gets `data-swipe` for what is to be seen below it. */
export function useSwipe({ onRight, onLeft }: Swipe) {
  const began = useRef<{ x: number; y: number; isSwipe: boolean }>(undefined);
  const wasSwipe = useRef(false);
  const show = (element: HTMLElement, way: number) => {
    element.style.transform = way === 0 ? "" : `translateX(${way}px)`;
    const row = element.parentElement!;
    if (way === 0) delete row.dataset.swipe;
    else row.dataset.swipe = way > 0 ? "right" : "left";
  };
  const end = (event: PointerEvent<HTMLElement>, acts: boolean) => {
    const start = began.current;
    began.current = undefined;
    if (!start?.isSwipe) return;
    const way = event.clientX - start.x;
    show(event.currentTarget, 0);
    if (acts && Math.abs(way) >= ACTS_PX) (way > 0 ? onRight : onLeft)();
  };
  return {
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      wasSwipe.current = false;
      if (event.pointerType === "touch" && event.isPrimary)
        began.current = { x: event.clientX, y: event.clientY, isSwipe: false };
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      const start = began.current;
      if (!start) return;
      const [wide, high] = [event.clientX - start.x, event.clientY - start.y];
      if (!start.isSwipe && Math.abs(wide) > BEGINS_PX && Math.abs(wide) > SLOPE * Math.abs(high)) {
        start.isSwipe = true;
        wasSwipe.current = true;
        event.currentTarget.setPointerCapture(event.pointerId);
      }
      if (start.isSwipe) show(event.currentTarget, wide);
    },
    onPointerUp: (event: PointerEvent<HTMLElement>) => end(event, true),
    onPointerCancel: (event: PointerEvent<HTMLElement>) => end(event, false),
    // The finger was on a link, which must not open.
    onClickCapture: (event: { preventDefault: () => void; stopPropagation: () => void }) => {
      if (!wasSwipe.current) return;
      wasSwipe.current = false;
      event.preventDefault();
      event.stopPropagation();
    },
  };
}
