import { X } from "lucide-react";
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { createPortal } from "react-dom";
import { Button } from "~/ui/button";
import { useCommands } from "./commands";
import css from "./panel.module.css";
import { PANEL_SLOT } from "./panel-slot";

const LEAST = 420;
const MOST = 720;
const KEY = "forebay.panel";
const WHOLE_PAGE = "(max-width: 899px)";

function storedWidth(): number {
  const found = Number(localStorage.getItem(KEY));
  return found >= LEAST && found <= MOST ? found : 520;
}

/** Details beside the list, which stays where it is; below 900 px a whole page. What is open belongs into the URL. */
export function Panel({ title, onClose, children }: { title: ReactNode; onClose: () => void; children: ReactNode }) {
  const [slot, setSlot] = useState<HTMLElement | null>(null);
  const [width, setWidth] = useState(storedWidth);
  useEffect(() => {
    const found = document.getElementById(PANEL_SLOT);
    setSlot(found);
    found?.toggleAttribute("data-open", true);
    return () => {
      found?.toggleAttribute("data-open", false);
    };
  }, []);
  useEffect(() => {
    slot?.style.setProperty("--panel-width", `${width}px`);
    localStorage.setItem(KEY, String(width));
  }, [slot, width]);
  const heading = useRef<HTMLHeadingElement>(null);
  // As a whole page it takes the focus; when it closes, the focus returns to the list.
  useLayoutEffect(() => {
    if (!slot) return;
    const before = document.activeElement;
    if (matchMedia(WHOLE_PAGE).matches) heading.current?.focus({ preventScroll: true });
    return () => {
      const isLost = slot.contains(document.activeElement) || document.activeElement === document.body;
      if (isLost && before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, [slot]);
  useCommands([
    { id: "panel-close", title: "Close the panel", group: "Panel", keys: "Escape", run: onClose, hidden: true },
    { id: "panel-toggle", title: "Close the panel", group: "Panel", keys: "]", run: onClose },
  ]);
  const resize = (to: number) => setWidth(Math.max(LEAST, Math.min(MOST, Math.round(to))));
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) resize(innerWidth - event.clientX);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowLeft: 24, ArrowRight: -24 }[event.key];
    if (step) resize(width + step);
  };
  if (!slot) return null;
  return createPortal(
    <section className={css.panel} aria-label={typeof title === "string" ? title : "Details"}>
      <div
        className={css.edge}
        role="separator"
        tabIndex={0}
        aria-orientation="vertical"
        aria-label="Width of the panel"
        aria-valuenow={width}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={drag}
        onKeyDown={press}
      />
      <div className={css.head}>
        <h2 ref={heading} tabIndex={-1} className="cut">
          {title}
        </h2>
        <Button look="plain" icon aria-label="Close" shortcut="Esc" onClick={onClose}>
          <X />
        </Button>
      </div>
      <div className={css.body}>{children}</div>
    </section>,
    slot,
  );
}
