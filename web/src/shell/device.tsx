import { useEffect } from "react";
import { plural } from "~/words";
import { sendKept } from "./outbox";
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

interface TrustedTypes {
  createPolicy: (
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ) => { createScriptURL: (url: string) => string };
}

/** Install the service worker, where there may be one. A new version waits until the person says so. */
export async function installWorker(): Promise<void> {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  const trusted = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  const place =
    trusted?.createPolicy("forebay", { createScriptURL: (url) => url }).createScriptURL("/sw.js") ?? "/sw.js";
  const registration = await navigator.serviceWorker.register(place);
  registration.addEventListener("updatefound", () => {
    const found = registration.installing;
    found?.addEventListener("statechange", () => {
      if (found.state === "installed" && navigator.serviceWorker.controller) {
        toast("A new version is here.", { label: "Reload", run: () => location.reload() });
      }
    });
  });
}
