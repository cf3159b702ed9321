const REFRESH = 3000;
const sections = [];
let timer;

const say = text => { part("said").textContent = text; };

/* sections */
async function begin() {
  const me = await greet();
  part("visitor").hidden = Boolean(me);
  part("member").hidden = !me;
  if (!me) return;
  await Promise.all(sections.map(each => each.begin?.()));
  await show();
}

/** Refresh the page, and again after a while as long as some work is unfinished. */
async function show() {
  clearTimeout(timer);
  const [work, ...open] = await Promise.all([ask("GET", "/api/jobs?pageSize=10"), ...sections.map(each => each.show?.())]);
  if (work.status === 401) return begin();
  const jobs = work.body.jobs || [];
  part("jobs").replaceChildren(...jobs.map(job));
  part("no-jobs").hidden = jobs.length > 0;
  const isOpen = open.some(Boolean) || jobs.some(each => ["QUEUED", "RUNNING"].includes(each.state));
  if (isOpen && !document.hidden) timer = setTimeout(show, REFRESH);
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

document.addEventListener("visibilitychange", () => { if (!document.hidden && !part("member").hidden) show(); });
begin();
