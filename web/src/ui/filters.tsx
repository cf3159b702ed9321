import { ListFilter } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { Button } from "./button";
import css from "./filters.module.css";

interface FiltersProps {
  /** The filter that is used most; it is always shown. */
  chips?: ReactNode;
  search?: ReactNode;
  /** How many of the fields have a value. */
  chosen?: number;
  /** The other fields. On a phone, a button shows them if there are chips or a search. */
  children?: ReactNode;
}

/** The filters above a list: chips and search in the first line, fields in the second. */
export function Filters({ chips, search, chosen = 0, children }: FiltersProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <div className={css.filters}>
      {(chips || search) && (
        <div className={css.first}>
          {chips}
          {search && <div className={css.search}>{search}</div>}
          {children && (
            <span className={css.toggle}>
              <Button
                aria-expanded={isOpen}
                aria-controls={id}
                aria-pressed={chosen > 0}
                onClick={() => setOpen(!isOpen)}
              >
                <ListFilter /> Filter{chosen > 0 && ` (${chosen})`}
              </Button>
            </span>
          )}
        </div>
      )}
      {children && (
        <div id={id} className={css.fields} data-shown={isOpen || undefined}>
          {children}
        </div>
      )}
    </div>
  );
}
