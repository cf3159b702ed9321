"use strict";
const part = id => document.getElementById(id);
const given = new URLSearchParams(location.hash.slice(1));
const place = `${location.origin}${location.pathname}`;

// What the bookmarklet does on the page that it is clicked on. The rest is for this page, where nobody else's scripts run.
part("handle").href = "javascript:" + encodeURIComponent(
  `(()=>{const s=String(getSelection());open(${JSON.stringify(place)}+"#"+new URLSearchParams({url:location.href,` +
  `title:document.title,note:s.slice(0,2000)}),"forebay","width=480,height=560")})()`);

function begin() {
  part("url").value = given.get("url") || "";
  part("name").value = given.get("title") || "";
  part("how").hidden = given.has("url");
  history.replaceState(null, "", location.pathname);
  (given.has("url") ? part("send") : part("url")).focus();
}

function csrf() {
  const found = document.cookie.split("; ").map(each => each.split("=")).find(([name]) => name.endsWith("forebay_csrf"));
  return found ? decodeURIComponent(found[1]) : "";
}

function complain(text, field) {
  part("url").setAttribute("aria-invalid", String(field === "url"));
  part("wrong").textContent = text;
}

async function send(event) {
  event.preventDefault();
  const url = part("url").value.trim();
  if (!url) return complain("The address is missing.", "url");
  const body = {url, tags: part("tags").value.split(",").map(tag => tag.trim()).filter(Boolean)};
  if (part("name").value.trim()) body.title = part("name").value.trim();
  if (given.get("note")) body.note = given.get("note");
  part("send").disabled = true;
  try {
    const answer = await fetch("/api/bookmarks", {
      method: "POST",
      headers: {"Content-Type": "application/json", "X-CSRF-Token": csrf()},
      body: JSON.stringify(body),
    });
    const said = await answer.json().catch(() => ({detail: `The server answered ${answer.status}`}));
    if (answer.ok) return finish(said);
    const first = (said.errors || [])[0] || {};
    complain(first.field === "url" ? `The address ${first.reason}.` : `${said.detail}.`, first.field);
    part("next").hidden = answer.status !== 401;
  } catch (error) {
    complain(`No answer: ${error.message}. Try again.`);
  } finally {
    part("send").disabled = false;
  }
}

function finish(said) {
  part("form").hidden = true;
  part("next").hidden = true;
  part("title").textContent = said.created ? "Saved" : "Saved already";
  part("said").textContent = said.bookmark.title || said.bookmark.url;
  part("title").focus();
}

part("form").addEventListener("submit", send);
// The bookmarklet opens this very window again: that changes only what is after #, and must begin anew.
addEventListener("hashchange", () => { if (location.hash) location.reload(); });
begin();
