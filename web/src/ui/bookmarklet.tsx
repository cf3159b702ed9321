import { useEffect, useRef } from "react";
import { buttonClass } from "./button";

/** A link to drag to the bookmarks bar. React does not set addresses that are scripts; this one runs in the browser of
 * the person, on other pages. */
export function Bookmarklet() {
  const handle = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    const place = JSON.stringify(`${location.origin}/save`);
    const script =
      `(()=>{const s=String(getSelection());open(${place}+"#"+new URLSearchParams({url:location.href,` +
      `title:document.title,note:s.slice(0,2000)}),"forebay","width=560,height=720")})()`;
    handle.current?.setAttribute("href", `javascript:${encodeURIComponent(script)}`);
  }, []);
  return (
    <a ref={handle} href="/save" className={buttonClass()} onClick={(event) => event.preventDefault()}>
      Save to forebay
    </a>
  );
}
