const OPEN = ["PENDING", "PROCESSING"];

sections.push({show: async () => {
  const bookmarks = (await ask("GET", "/api/bookmarks?pageSize=10")).body.bookmarks || [];
  part("bookmarks-list").replaceChildren(...bookmarks.map(bookmark));
  part("bookmarks-none").hidden = bookmarks.length > 0;
  return bookmarks.some(each => OPEN.includes(each.status));
}});

function bookmark(one) {
  const state = OPEN.includes(one.status) ? make("span", {className: "dim"}, "being fetched …")
    : one.status === "DONE" || one.status === "SKIPPED" ? make("span", {className: "dim"}, one.site || new URL(one.url).host)
      : make("span", {className: "bad"}, sentence((one.error || {}).reason || one.kindReason || "could not be fetched"));
  return make("li", {}, make("a", {href: one.url, rel: "noreferrer"}, one.title || one.url), " ", make("small", {}, state));
}

function complain(text) {
  part("bookmarks-url").setAttribute("aria-invalid", String(Boolean(text)));
  part("bookmarks-wrong").textContent = text;
}

async function save(event) {
  event.preventDefault();
  const url = part("bookmarks-url").value.trim();
  if (!url) return complain("The address is missing.");
  part("bookmarks-send").disabled = true;
  try {
    const {ok, status, body} = await ask("POST", "/api/bookmarks", {url});
    if (status === 401) return signIn();
    if (!ok) return complain(((body.errors || [])[0] || {}).field === "url" ? `The address ${body.errors[0].reason}.` : sentence(body.detail));
    complain("");
    part("bookmarks-form").reset();
    say(body.created ? "Saved." : "It was saved already.");
    await show();
  } catch (error) {
    complain(`No answer: ${error.message}. Try again.`);
  } finally {
    part("bookmarks-send").disabled = false;
    part("bookmarks-url").focus();
  }
}

part("bookmarks-form").addEventListener("submit", save);
