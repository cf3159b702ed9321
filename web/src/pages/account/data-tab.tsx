import { buttonClass } from "~/ui/button";
import { Copy } from "~/ui/copy";
import css from "./account.module.css";

/** Everything that belongs to the person, as one file. */
export function DataTab() {
  return (
    <div className={css.section}>
      <h2>Everything that is yours</h2>
      <p>
        One ZIP archive, made while you download it. How long that takes depends on how much you have; you can go on
        working meanwhile.
      </p>
      <ul className={css.points}>
        <li>Your account: sessions, tokens without their secrets, and preferences</li>
        <li>Bookmarks, as JSON to import again and as HTML for browsers</li>
        <li>Sheets: the originals, the exports, and how their columns were mapped</li>
        <li>Jobs with their items, inputs, results and errors</li>
        <li>The record: attempts that are still kept, and who did what</li>
        <li>All files, as screenshots and pictures</li>
      </ul>
      <p className="muted">
        Not in it: what is in the trash, thumbnails, texts of saved pages, and catalogues, which can be made again.
      </p>
      <span className="row">
        <a href="/api/me/export" download className={buttonClass("primary")}>
          Download everything
        </a>
      </span>
      <h2>From a program</h2>
      <Copy text={`curl -H "Authorization: Bearer TOKEN" -OJ ${location.origin}/api/me/export`} label="the command" />
    </div>
  );
}
