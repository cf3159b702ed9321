const REFRESH = 3000;
const OPEN = ["PENDING", "PROCESSING"];
let timer;

async function begin() {
  const me = await greet();
  part("visitor").hidden = Boolean(me);
  part("member").hidden = !me;
  if (!me) return;
  const {ok, body} = await ask("GET", "/api/pipelines");
  part("upload").hidden = !ok || !body.some(each => each.name === "sheets");
  await show();
}

/** Both lists, and again after a while as long as something is under way. */
async function show() {
  clearTimeout(timer);
  const [saved, work] = await Promise.all([ask("GET", "/api/bookmarks?pageSize=10"), ask("GET", "/api/jobs?pageSize=10")]);
  if (saved.status === 401) return begin();
  const bookmarks = saved.body.bookmarks || [], jobs = work.body.jobs || [];
  part("bookmarks").replaceChildren(...bookmarks.map(bookmark));
  part("no-bookmarks").hidden = bookmarks.length > 0;
  part("jobs").replaceChildren(...jobs.map(job));
  part("no-jobs").hidden = jobs.length > 0;
  const isOpen = bookmarks.some(each => OPEN.includes(each.status)) || jobs.some(each => ["QUEUED", "RUNNING"].includes(each.state));
  if (isOpen && !document.hidden) timer = setTimeout(show, REFRESH);
}

function bookmark(one) {
  const state = OPEN.includes(one.status) ? make("span", {className: "dim"}, "being fetched …")
    : one.status === "DONE" || one.status === "SKIPPED" ? make("span", {className: "dim"}, one.site || new URL(one.url).host)
      : make("span", {className: "bad"}, sentence((one.error || {}).reason || one.kindReason || "could not be fetched"));
  return make("li", {}, make("a", {href: one.url, rel: "noreferrer"}, one.title || one.url), " ", make("small", {}, state));
}

function job(one) {
  const count = one.counters, told = [`${count.done} of ${count.total} done`];
  if (count.error) told.push(`${count.error} failed`);
  if (count.notFound) told.push(`${count.notFound} not found`);
  if (count.skipped) told.push(`${count.skipped} skipped`);
  const kind = one.state === "FAILED" ? "bad" : one.state === "DONE" ? "good" : "dim";
  const line = make("small", {}, make("span", {className: kind}, one.state.toLowerCase()), ` · ${told.join(", ")}`);
  if (one.lastError) line.append(` · ${sentence(one.lastError.reason || one.lastError)}`);
  return make("li", {}, make("a", {href: `/api/jobs/${one.id}`}, `${one.pipeline} ${one.id}`), one.file ? ` ${one.file}` : "", line);
}

function complain(text) {
  part("url").setAttribute("aria-invalid", String(Boolean(text)));
  part("wrong").textContent = text;
}

async function save(event) {
  event.preventDefault();
  const url = part("url").value.trim();
  if (!url) return complain("The address is missing.");
  part("send").disabled = true;
  try {
    const {ok, status, body} = await ask("POST", "/api/bookmarks", {url});
    if (status === 401) return signIn();
    if (!ok) return complain(((body.errors || [])[0] || {}).field === "url" ? `The address ${body.errors[0].reason}.` : sentence(body.detail));
    complain("");
    part("form").reset();
    part("said").textContent = body.created ? "Saved." : "It was saved already.";
    await show();
  } catch (error) {
    complain(`No answer: ${error.message}. Try again.`);
  } finally {
    part("send").disabled = false;
    part("url").focus();
  }
}

async function upload() {
  const [file] = part("file").files;
  if (!file) return;
  const form = new FormData();
  form.append("pipeline", "sheets");
  form.append("file", file);
  part("said").textContent = `Uploading ${file.name} …`;
  try {
    const {ok, body} = await ask("POST", "/api/jobs", form);
    part("said").textContent = ok ? `${file.name} is being read: job ${body.jobId}.` : `${file.name}: ${sentence(body.detail)}`;
    await show();
  } catch (error) {
    part("said").textContent = `No answer: ${error.message}. Try again.`;
  } finally {
    part("upload").reset();
  }
}

part("form").addEventListener("submit", save);
part("file").addEventListener("change", upload);
document.addEventListener("visibilitychange", () => { if (!document.hidden && !part("member").hidden) show(); });
begin();
