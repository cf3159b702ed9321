import { Link } from "@tanstack/react-router";
import { Bookmarklet } from "~/ui/bookmarklet";
import { Copy } from "~/ui/copy";
import css from "./account.module.css";

/** Ways to save that begin outside of the app. */
export function SavingTab() {
  const isSecure = globalThis.isSecureContext;
  const address = `${location.origin}/api/bookmarks`;
  return (
    <div className={css.section}>
      <h2>From any page</h2>
      <p>
        Drag the bookmarklet to the bookmarks bar of your browser. A click on it saves the page that you look at; what
        is selected becomes the note.
      </p>
      <span className="row">
        <Bookmarklet />
      </span>
      <h2>From a phone with Android</h2>
      {isSecure ? (
        <p>
          Install the app: in the menu of the browser, choose “Install” or “Add to home screen”. It is then among the
          places that you can share a page to, also in Chromium on a computer.
        </p>
      ) : (
        <p>
          The app can be installed, and be a place to share pages to, when it is served over HTTPS. This address is not.
        </p>
      )}
      <h2>From an iPhone or iPad</h2>
      <p>
        iOS does not offer web apps as places to share to. A shortcut does the same; make it once, in the app Shortcuts:
      </p>
      <ol className={css.points}>
        <li>
          Make a token for it under{" "}
          <Link to="/account" search={{ tab: "tokens" }}>
            Tokens
          </Link>
          , and copy it.
        </li>
        <li>New shortcut, name “Save to forebay”; in its details, switch on “Show in Share Sheet” for URLs.</li>
        <li>Add the action “Get Contents of URL”, with this address:</li>
      </ol>
      <Copy text={address} label="the address" />
      <ol className={css.points} start={4}>
        <li>
          In the action: method <code>POST</code>; a header <code>Authorization</code> with the text <code>Bearer</code>
          , a space and the token; request body <code>JSON</code> with a text field <code>url</code> that is the
          “Shortcut Input”.
        </li>
        <li>Share a page, and choose the shortcut.</li>
      </ol>
      <h2>From a program</h2>
      <p>Make a token, and send links with it:</p>
      <Copy
        text={`curl -H "Authorization: Bearer TOKEN" --json '{"url": "https://example.org"}' ${address}`}
        label="the command"
      />
    </div>
  );
}
