/** A finger that rests on a row with `data-press` selects it, as its box does. A timer, because iOS has no event for it. */

const PRESS_MS = 500;
const MOVES_PX = 10;

let pressed: { x: number; y: number; timer: ReturnType<typeof setTimeout> } | undefined;
let hasActed = false; // what the same finger does next is no tap

function end(): void {
  clearTimeout(pressed?.timer);
  pressed = undefined;
}

function begin({ pointerType, isPrimary, target, clientX: x, clientY: y }: PointerEvent): void {
  end();
  hasActed = false;
  if (pointerType !== "touch" || !isPrimary || !(target instanceof Element)) return;
  const box = target.closest("[data-press]")?.querySelector<HTMLInputElement>("input[type=checkbox]");
  if (!box || target === box) return;
  const act = () => {
    end();
    box.click();
    hasActed = true;
  };
  pressed = { x, y, timer: setTimeout(act, PRESS_MS) };
}

function move({ clientX, clientY }: PointerEvent): void {
  if (pressed && Math.hypot(clientX - pressed.x, clientY - pressed.y) > MOVES_PX) end();
}

/** Neither the link below the finger nor its menu opens. */
function swallow(event: Event): void {
  if (!hasActed && !(pressed && event.type === "contextmenu")) return;
  event.preventDefault();
  event.stopPropagation();
}

/** A key, unlike the end of a touch, means what it does. */
function forget(): void {
  hasActed = false;
}

document.addEventListener("pointerdown", begin, { capture: true });
document.addEventListener("keydown", forget, { capture: true });
document.addEventListener("pointermove", move, { passive: true });
for (const kind of ["pointerup", "pointercancel"]) document.addEventListener(kind, end);
for (const kind of ["click", "contextmenu"]) document.addEventListener(kind, swallow, { capture: true });
