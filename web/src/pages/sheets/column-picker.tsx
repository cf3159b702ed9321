import { ArrowDown, ArrowUp, Pin, PinOff } from "lucide-react";
import type { useColumns } from "~/grid/columns";
import { Button } from "~/ui/button";
import { Check } from "~/ui/field";
import { Popover } from "~/ui/popover";
import css from "./sheets.module.css";

const KINDS = { own: "", read: "read", found: "found", meta: "" };

/** Which columns are shown, in which order, and which stay in view. */
export function ColumnPicker({ columns }: { columns: ReturnType<typeof useColumns> }) {
  const { inOrder, isHidden, toggle, pin, move, reset } = columns;
  return (
    <Popover button={{ look: "plain", children: "Columns" }} align="end">
      <div className={css.picker} role="group" aria-label="Columns">
        {inOrder.map(({ key, title, kind, isPinned }, index) => (
          <div key={key} className={css.pick}>
            <Check
              label={
                <>
                  {title} <span className="muted">{KINDS[kind]}</span>
                </>
              }
              checked={!isHidden(key)}
              onChange={() => toggle(key)}
            />
            <Button
              look="plain"
              icon
              aria-label={isPinned ? `Let ${title} scroll` : `Keep ${title} in view`}
              onClick={() => pin(key)}
            >
              {isPinned ? <PinOff /> : <Pin />}
            </Button>
            <Button
              look="plain"
              icon
              aria-label={`Move ${title} to the front`}
              disabled={index === 0}
              onClick={() => move(key, -1)}
            >
              <ArrowUp />
            </Button>
            <Button
              look="plain"
              icon
              aria-label={`Move ${title} to the back`}
              disabled={index === inOrder.length - 1}
              onClick={() => move(key, 1)}
            >
              <ArrowDown />
            </Button>
          </div>
        ))}
        <Button look="plain" onClick={reset}>
          As in the file
        </Button>
      </div>
    </Popover>
  );
}
