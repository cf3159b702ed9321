import { csrfToken } from "./api/client";

/** `forebay up` prints one link, /#fbl_…: it signs in once and opens the app. The secret leaves the address bar at once. */
export async function followLink(): Promise<void> {
  const link = /^#(fbl_[\w-]+)$/.exec(location.hash)?.[1];
  if (!link) return;
  history.replaceState(null, "", `${location.pathname}${location.search}`);
  // Signed in already: a link does not replace that. Without its cookie there is no session to ask for.
  if (csrfToken() && (await fetch("/api/me")).ok) return;
  const answer = await fetch("/api/session/link", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ link }),
  });
  if (answer.ok) return;
  location.replace(`/sign-in#${link}`); // which says what is wrong with it
  await new Promise(() => {});
}
