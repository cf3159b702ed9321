import type { Problem } from "./schema";

/** An answer of the server that is not what was asked for, or no answer (status 0). */
export class ProblemError extends Error {
  readonly status: number;
  readonly detail: string;
  readonly errors: { field: string; reason: string }[];
  /** Seconds after which the server wants to be asked again. */
  readonly retryAfter: number | undefined;
  /** What an earlier request with the same Idempotency-Key made. */
  readonly id: string | undefined;
  /** The name of the request in the log of the server. */
  readonly requestId: string | undefined;

  constructor(problem: Partial<Problem> & { status: number }, retryAfter?: number) {
    super(problem.detail ?? problem.title ?? `The server answered ${problem.status}`);
    this.name = "ProblemError";
    this.status = problem.status;
    this.detail = this.message;
    this.errors = problem.errors ?? [];
    this.retryAfter = retryAfter;
    this.id = problem.id;
    this.requestId = problem.requestId;
  }

  /** What is wrong with a field, for the place where it stands. */
  at(field: string): string | undefined {
    return this.errors.find((error) => error.field === field)?.reason;
  }

  get isGone(): boolean {
    return this.status === 404 || this.status === 410;
  }

  /** Whether a read may simply be sent again. */
  get isPassing(): boolean {
    return (
      this.status === 0 || this.status === 429 || this.status === 502 || this.status === 503 || this.status === 504
    );
  }
}

export async function problemOf(response: Response): Promise<ProblemError> {
  const said = Number(response.headers.get("Retry-After"));
  const body: unknown = await response.json().catch(() => ({}));
  const given = typeof body === "object" && body !== null ? (body as Partial<Problem>) : {};
  return new ProblemError({ ...given, status: response.status }, Number.isFinite(said) && said > 0 ? said : undefined);
}

/** The server could not be reached. */
export function unreachable(): ProblemError {
  return new ProblemError({
    status: 0,
    detail: "There is no answer from the server. Check that it runs and that you are online.",
  });
}
