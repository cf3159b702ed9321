/** Signing in again without leaving the page. */

type Asker = () => Promise<void>;

let ask: Asker | undefined;
let asking: Promise<void> | undefined;

/** The shell shows the dialog; before it is there, the sign-in page is opened. */
export function onSignInNeeded(asker: Asker): () => void {
  ask = asker;
  return () => {
    ask = undefined;
  };
}

/** Wait until somebody has signed in; one dialog for all requests that wait. */
export function signedIn(): Promise<void> {
  if (!ask) {
    toSignInPage();
    return new Promise(() => {});
  }
  asking ??= ask().finally(() => {
    asking = undefined;
  });
  return asking;
}

const BACK = "forebay.back"; // the sign-in page reads it

/** What is after # may be a link and a note that are about to be saved: no server sees it, also not as a part of `next`. */
export function toSignInPage(): void {
  const back = `${location.pathname}${location.search}`;
  if (location.hash) sessionStorage.setItem(BACK, `${back}${location.hash}`);
  location.assign(back === "/" || location.hash ? "/sign-in" : `/sign-in?next=${encodeURIComponent(back)}`);
}
