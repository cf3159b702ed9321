import { useEffect } from "react";
import { plural } from "~/words";
import { sendKept } from "./outbox";
import { scriptUrl } from "./script-url";
import { toast } from "./toasts";

/** Send kept links at the start, and whenever the network is back. */
export function useOutbox(): void {
  useEffect(() => {
    const send = () =>
      void sendKept().then(({ saved, refused }) => {
        if (saved > 0) toast(`${plural(saved, "kept link")} ${saved === 1 ? "is" : "are"} saved.`);
        for (const each of refused) toast(`Not saved: ${each}`);
      });
    send();
    globalThis.addEventListener("online", send);
    return () => globalThis.removeEventListener("online", send);
  }, []);
}

const LOOKED_MS = 3_600_000;
let isOffered = false;

/** Install the service worker, where there may be one, and look for a new version when the page is shown again. */
export async function installWorker(): Promise<void> {
  if (!import.meta.env.PROD) return;
  addEventListener("vite:preloadError", () => offerReload()); // a page of the version before, which the server has no more
  if (!("serviceWorker" in navigator)) return;
  const registration = await navigator.serviceWorker.register(scriptUrl("/sw.js"));
  if (registration.waiting) offerReload(registration.waiting);
  registration.addEventListener("updatefound", () => {
    const found = registration.installing;
    found?.addEventListener("statechange", () => {
      if (found.state === "installed" && navigator.serviceWorker.controller) offerReload(found);
    });
  });
  let looked = Date.now();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || Date.now() - looked < LOOKED_MS) return;
    looked = Date.now();
    registration.update().catch(() => undefined); // without a network there is no new version
  });
}

/** A new version waits until the person says so: nothing is lost that was being done. */
function offerReload(waiting?: ServiceWorker): void {
  if (isOffered) return;
  isOffered = true;
  const run = () => {
    if (!waiting) return location.reload();
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
    waiting.postMessage("take over");
  };
  toast("A new version is here.", { label: "Reload", run }, true);
}
