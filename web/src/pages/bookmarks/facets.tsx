import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Archive, Bookmark, Copy, Tags as TagsIcon, Trash2, Upload } from "lucide-react";
import { type ReactNode, useState } from "react";
import { categoriesQuery, type Facets } from "~/api/bookmarks";
import { short } from "~/format";
import { classes } from "~/ui/classes";
import { Field } from "~/ui/field";
import css from "./bookmarks.module.css";
import type { Change, Shown } from "./filter";

const KINDS: Record<string, string> = {
  page: "Pages",
  pdf: "PDF",
  image: "Pictures",
  file: "Other files",
  login: "Behind a login",
  captcha: "Ask for a captcha",
  error: "Error pages",
};
const FEW = 8;

interface FacetsProps {
  shown: Shown;
  facets: Facets | undefined;
  onChange: (change: Change) => void;
}

/** The left side: which bookmarks there are, with their numbers, and other places. */
export function FacetList({ shown, facets, onChange }: FacetsProps) {
  const categories = useQuery(categoriesQuery).data ?? [];
  const names = new Map(categories.map((category) => [category.id, category.name]));
  const failed = (facets?.statuses ?? []).filter(({ value }) => value === "ERROR" || value === "NOT_FOUND");
  const errors = failed.reduce((sum, each) => sum + each.bookmarks, 0);
  const isAll = !shown.archived && !shown.duplicates;
  const place = (archived: boolean, duplicates: boolean) =>
    onChange({ archived: archived || undefined, duplicates: duplicates || undefined });
  return (
    <>
      <div className={css.places}>
        <Choice isOn={isAll} onPress={() => place(false, false)} icon={<Bookmark />} name="All" />
        <Choice isOn={Boolean(shown.archived)} onPress={() => place(true, false)} icon={<Archive />} name="Archive" />
        <Choice
          isOn={Boolean(shown.duplicates)}
          onPress={() => place(false, true)}
          icon={<Copy />}
          name="Duplicates"
          count={facets?.duplicates || undefined}
        />
        <Link to="/bookmarks/trash" className={css.choice}>
          <Trash2 aria-hidden="true" />
          Trash
        </Link>
        <Link to="/bookmarks/tags" className={css.choice}>
          <TagsIcon aria-hidden="true" />
          All tags
        </Link>
        <Link to="/bookmarks/import" className={css.choice}>
          <Upload aria-hidden="true" />
          Import and export
        </Link>
      </div>
      {facets && (
        <>
          <Group
            title="Kind"
            values={facets.kinds.map(({ value, bookmarks }) => ({ value, name: KINDS[value] ?? value, bookmarks }))}
            chosen={shown.kind ?? []}
            onChange={(kind) => onChange({ kind: kind as Shown["kind"] })}
          >
            {(errors > 0 || shown.status) && (
              <Choice
                isOn={Boolean(shown.status)}
                onPress={() => onChange({ status: shown.status ? undefined : ["ERROR", "NOT_FOUND"] })}
                name="Errors"
                count={errors}
              />
            )}
          </Group>
          <Group
            title="Tags"
            values={facets.tags.map(({ value, bookmarks }) => ({ value, name: value, bookmarks }))}
            chosen={shown.tag ?? []}
            onChange={(tag) => onChange({ tag })}
          />
          <Group
            title="Categories"
            values={facets.categories.map(({ value, bookmarks }) => ({
              value,
              name: names.get(value) ?? value,
              bookmarks,
            }))}
            chosen={shown.category ? [shown.category] : []}
            onChange={(chosen) => onChange({ category: chosen.at(-1) })}
          />
          <Group
            title="Sites"
            values={facets.sites.map(({ value, bookmarks }) => ({ value, name: value, bookmarks }))}
            chosen={shown.site ?? []}
            onChange={(site) => onChange({ site })}
          />
          {!facets.isExact && <p className={css.note}>Counted among the newest 10,000 that match.</p>}
        </>
      )}
    </>
  );
}

interface GroupProps {
  title: string;
  values: { value: string; name: string; bookmarks: number }[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
  children?: ReactNode;
}

function Group({ title, values, chosen, onChange, children }: GroupProps) {
  const [typed, setTyped] = useState("");
  const [isLong, setLong] = useState(false);
  const missing = chosen.filter((value) => !values.some((each) => each.value === value));
  const all = [...missing.map((value) => ({ value, name: value, bookmarks: 0 })), ...values];
  const begun = typed.trim().toLowerCase();
  const found = all.filter(({ name }) => name.toLowerCase().includes(begun));
  const listed = isLong || begun ? found : found.slice(0, FEW);
  if (all.length === 0 && !children) return null;
  return (
    <fieldset className={css.facet}>
      <legend>{title}</legend>
      {all.length > FEW && (
        <Field
          label={`Find among ${title.toLowerCase()}`}
          hideLabel
          type="search"
          placeholder={`Find among ${all.length}`}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
      {listed.map(({ value, name, bookmarks }) => {
        const isOn = chosen.includes(value);
        const press = () => onChange(isOn ? chosen.filter((each) => each !== value) : [...chosen, value]);
        return <Choice key={value} isOn={isOn} onPress={press} name={name} count={bookmarks} />;
      })}
      {children}
      {found.length > listed.length && (
        <button type="button" className={css.choice} onClick={() => setLong(true)}>
          <span className="muted">{found.length - listed.length} more</span>
        </button>
      )}
    </fieldset>
  );
}

interface ChoiceProps {
  isOn: boolean;
  onPress: () => void;
  name: string;
  icon?: ReactNode;
  count?: number | undefined;
}

function Choice({ isOn, onPress, name, icon, count }: ChoiceProps) {
  return (
    <button type="button" aria-pressed={isOn} className={classes(css.choice, isOn && css.on)} onClick={onPress}>
      {icon}
      <span className="cut grow">{name}</span>
      {count !== undefined && <span className={css.count}>{short(count)}</span>}
    </button>
  );
}
