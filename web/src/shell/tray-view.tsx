import { X } from "lucide-react";
import type { MouseEvent } from "react";
import { Button } from "~/ui/button";
import { plural } from "~/words";
import { type Activity, dropActivity, useActivities } from "./tray";
import css from "./tray.module.css";

/** A press that opens no other tab or window. */
function isPlain(event: MouseEvent): boolean {
  return event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
}

function remove({ id, onRemove }: Activity): void {
  dropActivity(id);
  onRemove?.();
}

interface TrayProps {
  /** The page where one is: its own activity is not shown. */
  here?: string;
  /** Go to a page without loading the app again, which would interrupt uploads. */
  onGo?: (href: string) => void;
}

export function Tray({ here, onGo }: TrayProps) {
  const shown = useActivities().filter(({ href }) => href === undefined || href !== here);
  if (shown.length === 0) return null;
  const running = shown.filter((each) => !each.isOver).length;
  const goTo = (event: MouseEvent, href: string) => {
    if (!onGo) return;
    event.preventDefault();
    onGo(href);
  };
  return (
    <section aria-label="Activities in the background">
      <details className={css.tray} open>
        <summary>{running > 0 ? `${plural(running, "activity", "activities")} running` : "Finished"}</summary>
        <ul className={css.list} aria-label="Activities">
          {shown.map((each) => (
            <li key={each.id} className={css.activity}>
              {each.href ? (
                <a href={each.href} onClick={(event) => isPlain(event) && goTo(event, each.href!)}>
                  {each.title}
                </a>
              ) : (
                <span>{each.title}</span>
              )}
              <Button
                look="plain"
                icon
                aria-label={each.onCancel && !each.isOver ? `Cancel ${each.title}` : `Remove ${each.title}`}
                onClick={() => (each.onCancel ? each.onCancel() : remove(each))}
              >
                <X />
              </Button>
              {each.detail && <span className={css.detail}>{each.detail}</span>}
              {each.fraction !== undefined && !each.isOver && (
                <div
                  className={css.progress}
                  role="progressbar"
                  aria-label={each.title}
                  aria-valuenow={Math.round(each.fraction * 100)}
                >
                  <span style={{ transform: `scaleX(${each.fraction})` }} />
                </div>
              )}
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}
