// What bench/browser.py asks of a page. Runs before the page's own scripts.
globalThis.probe = (() => {
  const sources = [];
  const arrived = [];
  const tasks = [];
  const Source = globalThis.EventSource;
  globalThis.EventSource = class extends Source {
    constructor(...given) {
      super(...given);
      sources.push(this);
      this.addEventListener("job", () => arrived.push(performance.now()));
    }
  };
  new PerformanceObserver(list => tasks.push(...list.getEntries().map(each => each.duration)))
    .observe({type: "longtask", buffered: true});

  // Of each interaction, the longest of its events, from the input until the next frame is presented.
  const interactions = new Map();
  new PerformanceObserver(list => {
    for (const {interactionId, duration} of list.getEntries()) {
      if (interactionId > 0) interactions.set(interactionId, Math.max(duration, interactions.get(interactionId) ?? 0));
    }
  }).observe({type: "event", durationThreshold: 16, buffered: true});

  const frame = () => new Promise(requestAnimationFrame);
  const after = ms => new Promise(resolve => setTimeout(resolve, ms));

  /** The times between frames while something else scrolls, until `stop` is called. */
  let stop = () => [];
  function record() {
    const times = [];
    let isOver = false;
    const next = time => {
      times.push(time);
      if (!isOver) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    stop = () => {
      isOver = true;
      return times.slice(1).map((time, place) => time - times[place]);
    };
  }

  /** The rows in view; the grid draws some beyond both ends, which need not be loaded. */
  function rowsInView() {
    const box = document.querySelector("[role=grid]").getBoundingClientRect();
    return [...document.querySelectorAll("[data-row]")].filter(row => {
      const {top, bottom} = row.getBoundingClientRect();
      return bottom > box.top + 32 && top < box.bottom; // below the header
    });
  }

  /** Of the rows in view at each tenth frame, how many were not there yet. */
  let grey = {seen: 0, missing: 0, isOver: true};
  function watchRows() {
    grey = {seen: 0, missing: 0, isOver: false};
    let count = 0;
    const look = () => {
      if (grey.isOver) return;
      if (count++ % 10 === 0) {
        for (const row of rowsInView()) {
          grey.seen += 1;
          if (!row.querySelector("input")) grey.missing += 1;
        }
      }
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }
  function missingShare() {
    grey.isOver = true;
    return grey.missing / Math.max(1, grey.seen);
  }

  /** Jump to places all over the grid; the rows of each tenth are waited for. */
  async function jump(times, seed) {
    const box = document.querySelector("[role=grid]");
    let state = seed;
    const random = () => (state = (state * 1664525 + 1013904223) % 2 ** 32) / 2 ** 32;
    for (let n = 1; n <= times; n++) {
      box.scrollTop = random() * box.scrollHeight;
      await frame();
      await frame();
      if (n % 10 === 0) {
        const until = performance.now() + 30_000;
        await after(150);
        while (rowsInView().some(row => !row.querySelector("input"))) {
          if (performance.now() > until) throw new Error("rows did not come within 30 s");
          await frame();
        }
      }
    }
  }

  /** The page with 200 rows that nothing draws again: copies of the first ones, in the same boxes. */
  function freeze() {
    const grid = document.querySelector("[role=grid]");
    const still = grid.cloneNode(true);
    const rows = [...still.querySelectorAll("[data-row]")];
    const body = rows[0].parentElement;
    for (let n = 0; n < 200; n++) {
      const row = rows[n % rows.length].cloneNode(true);
      row.style.transform = `translateY(${n * 32}px)`;
      body.append(row);
    }
    for (const row of rows) row.remove();
    body.style.height = `${200 * 32}px`;
    grid.replaceWith(still);
  }

  /** From the arrival of an event until what it changed is on the screen: one time for each of so many events. */
  async function painted(selector, count) {
    const list = document.querySelector(selector);
    const waits = [];
    arrived.length = 0;
    let paint;
    const observer = new MutationObserver(() => {
      if (paint || arrived.length === 0) return;
      paint = frame().then(() => after(0)).then(() => { // after a frame's callbacks it is painted
        waits.push(performance.now() - arrived[0]);
        arrived.length = 0;
        paint = undefined;
      });
    });
    observer.observe(list, {subtree: true, characterData: true, childList: true, attributes: true});
    while (waits.length < count) await after(20);
    observer.disconnect();
    return waits;
  }

  /** How often a list is drawn within a second, at most, while these events arrive evenly in so many ms. */
  async function renders(selector, events, ms) {
    const drawn = new Set();
    let now = 0;
    const observer = new MutationObserver(() => drawn.add(now));
    observer.observe(document.querySelector(selector), {subtree: true, characterData: true, childList: true, attributes: true});
    const source = sources.at(-1);
    const began = performance.now();
    for (let sent = 0; sent < events.length; await frame()) {
      now = performance.now();
      for (const due = Math.ceil(events.length * Math.min(1, (now - began) / ms)); sent < due; sent++)
        source.dispatchEvent(new MessageEvent("job", {data: JSON.stringify(events[sent])}));
    }
    observer.disconnect();
    const times = [...drawn];
    return Math.max(...times.map(from => times.filter(time => time >= from && time < from + 1000).length));
  }

  function forgetTasks() {
    tasks.length = 0;
  }

  return {
    record, stop: () => stop(), watchRows, missingShare, jump, freeze, painted, renders, forgetTasks,
    longestTask: () => Math.max(0, ...tasks), interactions: () => [...interactions.values()], sources, arrived,
  };
})();
