import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bookmark, MousePointerClick, Table2 } from "lucide-react";
import { useApp } from "~/api/app";
import { loadDemo } from "~/api/home";
import { fillBox } from "~/shell/box";
import { Failed } from "~/shell/failed";
import { TryLink, TrySheet } from "~/shell/try-sample";
import { Button, buttonClass } from "~/ui/button";
import { Section } from "~/ui/section";
import css from "./home.module.css";

/** Nothing is here yet: the three ways to begin. */
export default function First() {
  const { pipelines } = useApp();
  const has = (name: string) => pipelines.some((pipeline) => pipeline.name === name);
  const demo = useMutation({ mutationFn: loadDemo });
  return (
    <Section title="Begin here">
      <div className={css.first}>
        {has("bookmarks") && (
          <div className={css.step}>
            <Bookmark aria-hidden="true" />
            <h3>Paste a link</h3>
            <p>It is saved at once. Its screenshot, text and picture follow while you go on.</p>
            <div className="row">
              <Button look="primary" onClick={() => fillBox()}>
                Paste a link
              </Button>
              <TryLink look="plain" />
            </div>
          </div>
        )}
        {has("sheets") && (
          <div className={css.step}>
            <Table2 aria-hidden="true" />
            <h3>Drop a spreadsheet</h3>
            <p>A CSV or XLSX file, anywhere on this page. Its rows are looked up, and you watch them fill in.</p>
            <div className="row">
              <Link to="/sheets/new" className={buttonClass()}>
                Choose a file
              </Link>
              <TrySheet look="plain" />
            </div>
          </div>
        )}
        {has("bookmarks") && (
          <div className={css.step}>
            <MousePointerClick aria-hidden="true" />
            <h3>Save from your browser</h3>
            <p>Drag the bookmarklet to your bookmarks bar, and save any page with a click.</p>
            <Link to="/save" className={buttonClass()}>
              Get the bookmarklet
            </Link>
          </div>
        )}
      </div>
      {has("texts") && (
        <p>
          Or{" "}
          <Button busy={demo.isPending} onClick={() => demo.mutate()}>
            Load the demo
          </Button>{" "}
          and watch sixty texts being read.
        </p>
      )}
      <Failed of={demo} what="The demo was not submitted." />
    </Section>
  );
}
