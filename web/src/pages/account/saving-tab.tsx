import { buttonClass } from "~/ui/button";
import css from "./account.module.css";

/** Ways to save that begin outside of the app. */
export function SavingTab() {
  const isSecure = globalThis.isSecureContext;
  return (
    <div className={css.section}>
      <h2>From any page</h2>
      <p>Drag the bookmarklet to the bookmarks bar of your browser. A click on it saves the page that you look at.</p>
      <span className="row">
        <a href="/bookmarks/add" className={buttonClass()}>
          Get the bookmarklet
        </a>
      </span>
      <h2>From a phone</h2>
      {isSecure ? (
        <p>
          Install the app: in the menu of the browser, choose “Install” or “Add to home screen”. On Android and in
          Chromium on a computer it is then among the places that you can share a page to. iOS does not offer that: use
          the bookmarklet there.
        </p>
      ) : (
        <p>
          The app can be installed, and be a place to share pages to, when it is served over HTTPS. This address is not.
        </p>
      )}
      <h2>From a program</h2>
      <p>Make a token, and send links with it:</p>
      <code className={css.command}>
        {`curl -H "Authorization: Bearer TOKEN" --json '{"url": "https://example.org"}' ${location.origin}/api/bookmarks`}
      </code>
    </div>
  );
}
