import createClient from "openapi-fetch";
import { ProblemError, problemOf, unreachable } from "./problem";
import { AppQueryClient } from "./query-client";
import type { components, paths } from "./schema";
import { signedIn } from "./session";

export type Schema<K extends keyof components["schemas"]> = components["schemas"][K];

/** The readable cookie whose name ends in forebay_csrf: over HTTPS it has a prefix. */
export function csrfToken(): string {
  const found = document.cookie.split("; ").find((each) => each.split("=")[0]?.endsWith("forebay_csrf"));
  return found ? decodeURIComponent(found.slice(found.indexOf("=") + 1)) : "";
}

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

function attempt(request: Request): Promise<Response> {
  if (!SAFE.has(request.method)) request.headers.set("X-CSRF-Token", csrfToken());
  return fetch(request);
}

/** Send a request. When the session has ended, the person signs in, and the request is sent once more; the same after
 * another tab has renewed the session and with it the CSRF token. */
export async function send(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await attempt(request).catch((error: unknown) => {
    throw error instanceof DOMException && error.name === "AbortError" ? error : unreachable();
  });
  if (new URL(request.url).pathname.startsWith("/api/session")) return response;
  if (response.status === 401) {
    await signedIn();
    return attempt(again);
  }
  if (response.status === 403 && (await problemOf(response.clone())).at("x-csrf-token")) return attempt(again);
  return response;
}

/** The API, typed by its routes: `api.GET("/api/jobs/{job_id}", { params: { path: { job_id } } })`. */
export const api = createClient<paths>({
  baseUrl: location.origin,
  fetch: send,
  querySerializer: { array: { style: "form", explode: true } },
});

/** The data of an answer: `await take(api.GET(…))`. Raises a ProblemError. */
export async function take<T>(asked: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await asked;
  if (response.ok) return data as T;
  const said = Number(response.headers.get("Retry-After"));
  const given = typeof error === "object" && error !== null ? error : {};
  throw new ProblemError({ ...given, status: response.status }, said > 0 ? said : undefined);
}

const MOST_TRIES = 4;

/** Query keys begin with the noun: ["jobs", filter], ["job", id], ["items", jobId, filter]; ids are strings.
 * `meta: { live: true }` marks what events keep fresh: it is asked again by polling when there is no stream. */
export const queryClient = new AppQueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: true,
      refetchOnReconnect: true,
      throwOnError: false,
      retry: (failures, error) => error instanceof ProblemError && error.isPassing && failures < MOST_TRIES,
      retryDelay: (failures, error) =>
        1000 * ((error instanceof ProblemError ? error.retryAfter : undefined) ?? Math.min(2 ** failures, 15)),
    },
    mutations: { retry: false, networkMode: "always" }, // without a network they fail, or keep what is to be sent
  },
});
