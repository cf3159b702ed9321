/// <reference lib="webworker" />
/** The service worker: the shell of the app is there without a network, and files can be shared to it. No answer of the API
 * is ever kept. */

const worker = self as unknown as ServiceWorkerGlobalScope;

// The build puts the files of the first load here; another list is another version.
const FILES = "__FILES__".split(" ");
const CACHE = `shell ${FILES.join(" ")}`;
const SHARED = "shared"; // what was shared to the app, until the page /save takes it
const OTHERS = ["/api", "/files/", "/sign-in"];

worker.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(["/", ...FILES])));
});

worker.addEventListener("activate", (event) => {
  const isOld = (name: string) => name !== CACHE && name !== SHARED;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name)))));
});

// The person has said so: the new version takes the place of the one that the pages were opened with.
worker.addEventListener("message", (event) => {
  if (event.data === "take over") event.waitUntil(worker.skipWaiting());
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== worker.location.origin) return;
  if (request.method === "POST" && request.mode === "navigate" && pathname === "/save")
    event.respondWith(share(request));
  if (request.method !== "GET" || OTHERS.some((each) => pathname.startsWith(each))) return;
  if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => shell()));
  else if (FILES.includes(pathname)) event.respondWith(caches.match(request).then((kept) => kept ?? fetch(request)));
});

async function shell(): Promise<Response> {
  return (await caches.match("/")) ?? Response.error();
}

/** The share menu posts a form. It never reaches the server, which takes no form of other sites: the page /save shows what
 * it has, and the person says what to do with it. */
async function share(request: Request): Promise<Response> {
  const form = await request.formData();
  const given = new URLSearchParams();
  for (const name of ["url", "title", "text"]) {
    const value = form.get(name);
    if (typeof value === "string" && value) given.set(name, value);
  }
  const files = form.getAll("files").filter((each) => each instanceof File && each.size > 0) as File[];
  await caches.delete(SHARED);
  const cache = await caches.open(SHARED);
  for (const [place, file] of files.entries()) {
    await cache.put(`/shared/${place}/${encodeURIComponent(file.name)}`, new Response(file));
  }
  if (files.length > 0) given.set("files", String(files.length));
  return Response.redirect(`/save?${given}`, 303);
}

export {};
