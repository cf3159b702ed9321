/// <reference lib="webworker" />
/** The service worker: the shell of the app is there without a network. No answer of the API is ever kept. */

const worker = self as unknown as ServiceWorkerGlobalScope;

// The build puts the files of the first load here; another list is another version.
const FILES = "__FILES__".split(" ");
const CACHE = `shell ${FILES.join(" ")}`;
const OTHERS = ["/api", "/files/", "/sign-in", "/bookmarks/add"];

worker.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(["/", ...FILES])));
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name)))),
  );
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== worker.location.origin || OTHERS.some((each) => pathname.startsWith(each)))
    return;
  if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => shell()));
  else if (FILES.includes(pathname)) event.respondWith(caches.match(request).then((kept) => kept ?? fetch(request)));
});

async function shell(): Promise<Response> {
  return (await caches.match("/")) ?? Response.error();
}

export {};
