import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Page } from "~/shell/page";
import { useTyped } from "~/shell/use-typed";
import { Field } from "~/ui/field";
import { Found } from "./found";
import { Saved } from "./saved";
import css from "./search.module.css";
import { Similar } from "./similar";

const route = getRouteApi("/search");

/** One search over everything. It answers while somebody types; what is asked is in the URL. */
export default function SearchPage() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/search" });
  const [text, setText] = useState(search.q ?? "");
  const typed = useTyped(text.trim());
  const field = useRef<HTMLInputElement>(null);
  const asked = useRef(search.q ?? "");
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) field.current?.focus();
  }, []);
  // What is typed goes into the URL, and what comes into the URL otherwise, as by Back, goes into the field.
  useEffect(() => {
    if (typed === asked.current) return;
    asked.current = typed;
    void navigate({
      search: ({ like: _, q: __, kind: ___, ...now }) => (typed ? { ...now, q: typed } : {}),
      replace: true,
      resetScroll: false,
    });
  }, [typed, navigate]);
  useEffect(() => {
    const q = search.q ?? "";
    if (q === asked.current) return;
    asked.current = q;
    setText(q);
  }, [search.q]);
  return (
    <Page title="Search">
      <form role="search" aria-label="Everything" onSubmit={(event) => event.preventDefault()} className={css.form}>
        <Field
          ref={field}
          label="Search everything"
          hideLabel
          type="search"
          maxLength={400}
          placeholder="What are you looking for?"
          value={text}
          enterKeyHint="search"
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <p className={css.help}>
          <code>"a phrase"</code> as it is, <code>-word</code> without it
        </p>
      </form>
      {search.like ? (
        <Similar like={search.like} />
      ) : search.q ? (
        <Found search={{ ...search, q: search.q }} />
      ) : (
        <Saved />
      )}
    </Page>
  );
}
