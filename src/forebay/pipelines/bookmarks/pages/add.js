const fragment = location.hash;
const given = new URLSearchParams(fragment.slice(1));
const place = `${location.origin}${location.pathname}`;

// The bookmarklet does only this on the visited page. The rest happens on this page, where no other scripts run.
part("handle").href = "javascript:" + encodeURIComponent(
  `(()=>{const s=String(getSelection());open(${JSON.stringify(place)}+"#"+new URLSearchParams({url:location.href,` +
  `title:document.title,note:s.slice(0,2000)}),"forebay","width=480,height=600")})()`);

async function begin() {
  history.replaceState(null, "", location.pathname);
  const me = await greet();
  part("visitor").hidden = Boolean(me);
  part("form").hidden = !me;
  part("how").hidden = !me || given.has("url");
  if (!me) return part("enter").focus();
  part("url").value = given.get("url") || "";
  part("name").value = given.get("title") || "";
  (given.has("url") ? part("send") : part("url")).focus();
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
    const {ok, status, body: said} = await ask("POST", "/api/bookmarks", body);
    if (ok) return finish(said);
    if (status === 401) return signIn(`/bookmarks/add${fragment}`);
    const first = (said.errors || [])[0] || {};
    complain(first.field === "url" ? `The address ${first.reason}.` : sentence(said.detail), first.field);
  } catch (error) {
    complain(`No answer: ${error.message}. Try again.`);
  } finally {
    part("send").disabled = false;
  }
}

function finish(said) {
  part("form").hidden = true;
  part("title").textContent = said.created ? "Saved" : "Saved already";
  part("said").textContent = said.bookmark.title || said.bookmark.url;
  part("next").hidden = false;
  part("title").focus();
}

part("form").addEventListener("submit", send);
part("enter").addEventListener("click", event => {
  event.preventDefault();
  signIn(`/bookmarks/add${fragment}`);
});
// The bookmarklet reuses this window, which changes only the fragment: start again.
addEventListener("hashchange", () => { if (location.hash) location.reload(); });
begin();
