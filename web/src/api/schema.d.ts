// Written by scripts/web_client.py from the routes of the API: do not edit.

export interface paths {
  "/api/jobs": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { after?: string | null; pipeline?: string | null; state?: "QUEUED" | "RUNNING" | "PAUSED" | "DONE" | "FAILED" | "CANCELLED" | null; from?: string | null; to?: string | null; userId?: string; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["JobPage"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; header?: { "Idempotency-Key"?: string }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": {
        pipeline: string;
        key?: string | null;
        priority?: number;
        runAt?: string | null;
        meta?: Record<string, unknown> | null;
        unique?: components['schemas']["KeyUnique"] | null;
        input?: unknown;
        items?: unknown[] | null;
        coalesce?: boolean;
        maxWaitSeconds?: number | null;
        file?: string | null;
        options?: unknown;
      }; "multipart/form-data": {
        pipeline: string;
        key?: string | null;
        priority?: number;
        runAt?: string | null;
        meta?: Record<string, unknown> | null;
        unique?: components['schemas']["KeyUnique"] | null;
        file: Blob;
      } } };
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["JobRef"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Job"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}/pause": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Changed"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}/resume": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Changed"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}/cancel": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Changed"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}/reprocess": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: { "Idempotency-Key"?: string }; path: { job_id: string }; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["Reprocess"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Reprocessed"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}/dismiss": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { job_id: string }; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["Dismiss"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Dismissed"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}/kickoff": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: { durationMs?: number }; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Kickoff"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}/items": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { statuses?: string | null; status?: string | null; after?: string | null; sort?: string; pageSize?: number }; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ItemPage"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}/items/{item_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { job_id: string; item_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Item"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/pending": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { statuses?: string; userId?: string; jobType?: string | null; jobId?: string | null; from?: string | null; to?: string | null; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ItemPage"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/attempts": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { userId?: string; jobId?: string | null; itemId?: string | null; step?: string | null; outcome?: "DONE" | "SKIPPED" | "NOT_FOUND" | "ERROR" | "CANCELLED" | "SNOOZED" | "THROTTLED" | "RELEASED" | "EXPIRED" | null; worker?: string | null; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["AttemptPage"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/audit": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { userId?: string; jobId?: string | null; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["AuditPage"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/dead-letters": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { userId?: string; pipeline?: string | null; jobId?: string | null; errorClass?: string | null; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["DeadLetterPage"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/signals": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: { "Idempotency-Key"?: string }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["NewSignal"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Signalled"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/files/{file_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { disposition?: "inline" | "attachment"; expiresS?: number | null }; header?: never; path: { file_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["FileInfo"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/files/{file_id}/content": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { disposition?: "inline" | "attachment" }; header?: never; path: { file_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "*/*": Blob } };
        206: { headers: { [name: string]: unknown }; content: { "*/*": Blob } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head: {
      parameters: { query?: { disposition?: "inline" | "attachment" }; header?: never; path: { file_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "*/*": Blob } };
        206: { headers: { [name: string]: unknown }; content: { "*/*": Blob } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    patch?: never;
    trace?: never;
  };
  "/files/{token}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { token: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "*/*": Blob } };
        206: { headers: { [name: string]: unknown }; content: { "*/*": Blob } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head: {
      parameters: { query?: never; header?: never; path: { token: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "*/*": Blob } };
        206: { headers: { [name: string]: unknown }; content: { "*/*": Blob } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    patch?: never;
    trace?: never;
  };
  "/api/events": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { jobId?: string | null; pipeline?: string | null; userId?: string; after?: string | null }; header?: { "Last-Event-ID"?: string | null }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "text/event-stream": string } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/queues": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Queue"][] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/queues/{name}/pause": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { name: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["QueueChanged"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/queues/{name}/resume": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { name: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["QueueChanged"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/totals": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Totals"][] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/workers": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["WorkerList"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/session": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["SignIn"] } };
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Me"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/session/link/check": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["CheckLink"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["LinkGood"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/session/link": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["FollowLink"] } };
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Me"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/sessions": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SessionRow"][] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/sessions/{session_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; header?: never; path: { session_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/me": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Me"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/me/password": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["NewPassword"] } };
      responses: {
        204: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/tokens": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["TokenRow"][] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; header?: { "Idempotency-Key"?: string }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["NewToken"] } };
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["TokenMade"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/tokens/{token_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; header?: never; path: { token_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/users": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["AccountRow"][] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/users/invitations": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["InvitationRow"][] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; header?: { "Idempotency-Key"?: string }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["Invite"] } };
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Invited"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/users/invitations/{invitation_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; header?: never; path: { invitation_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/users/{name}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; header?: never; path: { name: string }; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["ChangeAccount"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["AccountRow"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    trace?: never;
  };
  "/api/app": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["AppInfo"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/pipelines": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["PipelineInfo"][] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/healthz": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "text/plain": string } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/readyz": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "text/plain": string } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/metrics": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "text/plain": string } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/statistics": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": Record<string, unknown> } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/bookmarks/tags": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["TagList"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/bookmarks/categories": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["CategoryList"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["NewCategory"] } };
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Category"] } };
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Category"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/bookmarks/categories/{category_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put: {
      parameters: { query?: never; header?: never; path: { category_id: string }; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["NewCategory"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Category"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    post?: never;
    delete: {
      parameters: { query?: never; header?: never; path: { category_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/bookmarks/export": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { format?: "html" | "csv" | "json" }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "text/html": unknown; "text/csv": unknown; "application/json": unknown } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/bookmarks/import": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: { "Idempotency-Key"?: string }; path?: never; cookie?: never };
      requestBody: { content: { "multipart/form-data": {
        file: Blob;
      } } };
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["JobRef"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/bookmarks": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { after?: string | null; q?: string | null; categoryId?: string | null; tag?: string | null; kind?: "page" | "pdf" | "image" | "file" | "login" | "captcha" | "error" | null; archived?: boolean | null; everything?: boolean; duplicates?: boolean; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["BookmarkPage"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; header?: { "Idempotency-Key"?: string }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["NewBookmark"] } };
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["AddedBookmark"] } };
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["AddedBookmark"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/bookmarks/{bookmark_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { bookmark_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["WholeBookmark"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; header?: never; path: { bookmark_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; header?: never; path: { bookmark_id: string }; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["BookmarkChange"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Bookmark"] | components['schemas']["Reference"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    trace?: never;
  };
  "/api/bookmarks/{bookmark_id}/archive": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { bookmark_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Bookmark"] | components['schemas']["Reference"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/bookmarks/{bookmark_id}/unarchive": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { bookmark_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Bookmark"] | components['schemas']["Reference"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/bookmarks/{bookmark_id}/crawl": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: { "Idempotency-Key"?: string }; path: { bookmark_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Crawled"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/bookmarks/{bookmark_id}/merge": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { bookmark_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Bookmark"] | components['schemas']["Reference"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/bookmarks/{bookmark_id}/changes": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { after?: string | null; pageSize?: number }; header?: never; path: { bookmark_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["VersionPage"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/bookmarks/add/data": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["LegacyBookmark"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": Record<string, unknown> } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/bookmarks/add/tasks/queue-consumer": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { durationMs?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ConsumerReport"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: { durationMs?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ConsumerReport"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/bookmarks/add/tasks/screenshot": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: { durationMs?: number }; header?: never; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["LegacyScreenshot"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["StepReport"] } };
        202: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["StepReport"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/bookmarks/add/tasks/remaining": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: { durationMs?: number }; header?: never; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["LegacyRemaining"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["StepReport"] } };
        202: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["StepReport"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/sheets": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { after?: string | null; userId?: string; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SheetPage"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/sheets/{job_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SheetInfo"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; header?: never; path: { job_id: string }; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["ChangedSheet"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SheetInfo"] | components['schemas']["Reference"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    trace?: never;
  };
  "/api/jobs/{job_id}/grid": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { statuses?: string | null; show?: string | null; after?: string | null; pageSize?: number }; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["GridPage"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}/export": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: { format?: "csv" | "xlsx" | "jsonl"; statuses?: string | null; show?: string | null; raw?: boolean; from?: number | null; to?: number | null }; header?: { "Idempotency-Key"?: string }; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        202: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ExportRef"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}/exports": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { after?: string | null; pageSize?: number }; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ExportPage"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/exports/{export_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { export_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["LinkedExport"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/catalogues": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["CatalogueList"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/catalogues/{name}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; header?: never; path: { name: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/catalogues/{name}/share": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { name: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/catalogues/{name}/unshare": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { name: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/providers": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ProviderList"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/uploads": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header: { "Upload-Length": string; "Upload-Metadata"?: string }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": unknown } };
        200: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/uploads/{upload_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; header?: never; path: { upload_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        204: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    options?: never;
    head: {
      parameters: { query?: never; header?: never; path: { upload_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": unknown } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    patch: {
      parameters: { query?: never; header: { "Upload-Offset": string }; path: { upload_id: string }; cookie?: never };
      requestBody: { content: { "application/offset+octet-stream": Blob } };
      responses: {
        204: { headers: { [name: string]: unknown }; content?: never };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    trace?: never;
  };
  "/api/ingestion/sources": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SourceList"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/ingestion/scan": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: { "Idempotency-Key"?: string }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["WantedScan"] } };
      responses: {
        202: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["BegunScans"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export interface components {
  schemas: {
    AccountRow: {
      id: string;
      name: string;
      role: "user" | "admin";
      createdAt: string;
      signedInAt: string | null;
      disabledAt: string | null;
    };
    AddedBookmark: {
      created: boolean;
      bookmark: components['schemas']["Bookmark"] | components['schemas']["Reference"];
    };
    AppInfo: {
      me: components['schemas']["Me"];
      version: string;
      features: Record<string, boolean>;
      limits: components['schemas']["Limits"];
      pipelines: components['schemas']["PipelineInfo"][];
      problems: number;
    };
    Attempt: {
      jobId: string;
      itemId: string;
      pipeline: string;
      step: string;
      attempt: number;
      outcome: "DONE" | "SKIPPED" | "NOT_FOUND" | "ERROR" | "CANCELLED" | "SNOOZED" | "THROTTLED" | "RELEASED" | "EXPIRED";
      owner: string;
      worker: string;
      startedAt: string;
      endedAt: string;
      errorClass: string | null;
      reason: string | null;
    };
    AttemptPage: {
      attempts: components['schemas']["Attempt"][];
      next: string | null;
    };
    AuditPage: {
      audit: components['schemas']["AuditRow"][];
      next: string | null;
    };
    AuditRow: {
      id: string;
      at: string;
      actor: string;
      action: string;
      owner: string | null;
      jobId: string | null;
      itemId: string | null;
      detail: unknown | null;
    };
    BegunScan: {
      source: string;
      jobId: string;
    };
    BegunScans: {
      scans: components['schemas']["BegunScan"][];
    };
    Bookmark: {
      id: string;
      url: string;
      title: string | null;
      description: string | null;
      note: string | null;
      tags: string[];
      categoryId: string | null;
      site: string | null;
      language: string | null;
      kind: "page" | "pdf" | "image" | "file" | "login" | "captcha" | "error" | null;
      kindReason: string | null;
      httpStatus: number | null;
      publishedAt: string | null;
      words: number | null;
      readingMinutes: number | null;
      caption: string | null;
      image: unknown;
      files: Record<string, components['schemas']["FileRef"]>;
      duplicateOf: string | null;
      archivedAt: string | null;
      createdAt: string;
      updatedAt: string;
      crawledAt: string | null;
      changedAt: string | null;
      crawlEveryHours: number | null;
      nextCrawlAt: string | null;
      jobId: string | null;
      status: "PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED";
      error: unknown;
    };
    BookmarkChange: {
      title?: string | null;
      note?: string | null;
      tags?: string[] | null;
      categoryId?: string | null;
      crawlEveryHours?: number | null;
    };
    BookmarkPage: {
      bookmarks: (components['schemas']["Bookmark"] | components['schemas']["FoundBookmark"])[];
      next: string | null;
    };
    Catalogue: {
      name: string;
      owner: string | null;
      shared: boolean;
      products: number;
      createdAt: string;
      updatedAt: string | null;
    };
    CatalogueList: {
      catalogues: components['schemas']["Catalogue"][];
    };
    Category: {
      id: string;
      name: string;
      createdAt: string;
      bookmarks?: number;
    };
    CategoryList: {
      categories: components['schemas']["Category"][];
    };
    ChangeAccount: {
      role?: "user" | "admin" | null;
      disabled?: boolean | null;
    };
    Changed: {
      changed: boolean;
      state: "QUEUED" | "RUNNING" | "PAUSED" | "DONE" | "FAILED" | "CANCELLED";
    };
    ChangedSheet: {
      columns?: Record<string, string | null> | null;
      decimalMark?: "." | "," | null;
      currency?: string | null;
      providers?: string[] | null;
    };
    CheckLink: {
      link: string;
    };
    ConsumerReport: {
      success: boolean;
      message: string;
      processedCount: number;
      archivedCount: number;
      failedCount: number;
      results: components['schemas']["MessageResult"][];
    };
    Counters: {
      total: number;
      pending: number;
      done: number;
      skipped: number;
      notFound: number;
      error: number;
    };
    Crawled: {
      jobId: string;
    };
    DeadLetter: {
      at: string;
      jobId: string;
      itemId: string;
      pipeline: string;
      step: string;
      owner: string;
      outcome: "DONE" | "SKIPPED" | "NOT_FOUND" | "ERROR" | "CANCELLED" | "SNOOZED" | "THROTTLED" | "RELEASED" | "EXPIRED";
      errorClass: string | null;
      reason: string | null;
      attempt: number;
    };
    DeadLetterPage: {
      deadLetters: components['schemas']["DeadLetter"][];
      next: string | null;
    };
    Dismiss: {
      scope?: "job" | "items";
      itemIds?: string[] | null;
    };
    Dismissed: {
      deadLetters: number;
    };
    Export: {
      exportId: string;
      jobId: string;
      format: "csv" | "xlsx" | "jsonl";
      options: unknown;
      state: "QUEUED" | "RUNNING" | "PAUSED" | "DONE" | "FAILED" | "CANCELLED" | null;
      progress: number | null;
      rows: number | null;
      bytes: number | null;
      cut: number | null;
      error: string | null;
      createdAt: string;
      writtenAt: string | null;
      fileId: string | null;
    };
    ExportPage: {
      exports: components['schemas']["Export"][];
      next: string | null;
    };
    ExportRef: {
      exportId: string;
      state: "QUEUED" | "RUNNING" | "PAUSED" | "DONE" | "FAILED" | "CANCELLED";
    };
    FieldSuggestion: {
      field: string;
      column: string;
      score: number;
      reason: string;
    };
    FileInfo: {
      id: string;
      name: string;
      mediaType: string;
      size: number;
      sha256: string;
      createdAt: string;
      url: string;
      expiresAt: string;
    };
    FileRef: {
      id: string;
      url: string;
    };
    FollowLink: {
      link: string;
      name?: string | null;
      password?: string | null;
    };
    FoundBookmark: {
      id: string;
      url: string;
      title: string | null;
      description: string | null;
      note: string | null;
      tags: string[];
      categoryId: string | null;
      site: string | null;
      language: string | null;
      kind: "page" | "pdf" | "image" | "file" | "login" | "captcha" | "error" | null;
      kindReason: string | null;
      httpStatus: number | null;
      publishedAt: string | null;
      words: number | null;
      readingMinutes: number | null;
      caption: string | null;
      image: unknown;
      files: Record<string, components['schemas']["FileRef"]>;
      duplicateOf: string | null;
      archivedAt: string | null;
      createdAt: string;
      updatedAt: string;
      crawledAt: string | null;
      changedAt: string | null;
      crawlEveryHours: number | null;
      nextCrawlAt: string | null;
      jobId: string | null;
      status: "PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED";
      error: unknown;
      rank: number;
      snippet: string;
    };
    GridPage: {
      columns: string[];
      rows: components['schemas']["GridRow"][];
      next: string | null;
    };
    GridRow: {
      id: string;
      status: "PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED";
      cells: (string | null)[];
    };
    InputSummary: {
      title: string | null;
      brand: string | null;
      sku: string | null;
    };
    InvitationRow: {
      id: string;
      role: "user" | "admin";
      createdBy: string;
      createdAt: string;
      expiresAt: string;
    };
    Invite: {
      role?: "user" | "admin";
    };
    Invited: {
      id: string;
      role: "user" | "admin";
      createdBy: string;
      createdAt: string;
      expiresAt: string;
      link: string;
    };
    Item: {
      id: string;
      jobId: string;
      pipeline: string;
      owner: string;
      status: "PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED";
      createdAt: string;
      updatedAt: string;
      key: string | null;
      input: unknown;
      normalized: unknown;
      result: unknown;
      error: unknown;
      progress: unknown;
      steps: components['schemas']["StepState"][];
      waits: components['schemas']["SignalWait"][];
      attempts: components['schemas']["Attempt"][];
    };
    ItemPage: {
      items: components['schemas']["ItemRow"][];
      next: string | null;
    };
    ItemRow: {
      id: string;
      jobId: string;
      pipeline: string;
      owner: string;
      status: "PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED";
      attempts: number;
      lockedBy: string | null;
      lockedAt: string | null;
      createdAt: string;
      updatedAt: string;
      key: string | null;
      inputSummary: components['schemas']["InputSummary"];
      error: unknown;
      progress: unknown;
    };
    Job: {
      id: string;
      pipeline: string;
      owner: string;
      state: "QUEUED" | "RUNNING" | "PAUSED" | "DONE" | "FAILED" | "CANCELLED";
      priority: number;
      key: string | null;
      meta: unknown;
      sealed: boolean;
      counters: components['schemas']["Counters"];
      ip: string | null;
      file: string | null;
      createdAt: string;
      startedAt: string | null;
      finishedAt: string | null;
      updatedAt: string;
      heartbeatAt: string;
      etaSeconds: number | null;
      lastError: components['schemas']["LastError"] | null;
    };
    JobPage: {
      jobs: components['schemas']["Job"][];
      next: string | null;
    };
    JobRef: {
      jobId: string;
      created: boolean;
      items: number;
    };
    KeyUnique: {
      states?: ("QUEUED" | "RUNNING" | "PAUSED" | "DONE" | "FAILED" | "CANCELLED")[] | null;
      periodSeconds?: number | null;
    };
    Kickoff: {
      settled: number;
      job: components['schemas']["Job"] | components['schemas']["Reference"];
    };
    LastError: {
      item: string;
      step: string;
      class: string | null;
      reason: string | null;
      attempt: number;
      at: string;
    };
    LegacyBookmark: {
      url: string;
      category_id?: number | null;
      update_access?: boolean;
    };
    LegacyRemaining: {
      id: number;
      url: string;
      userId: string;
      favIcon?: string | null;
    };
    LegacyScreenshot: {
      id: number;
      url: string;
      userId: string;
    };
    Limits: {
      page: number;
      uploadBytes: number;
      items: number;
      streams: number;
      linkS: number;
    };
    LinkGood: {
      kind: "invitation" | "sign-in";
      role: "user" | "admin";
      name: string | null;
    };
    LinkedExport: {
      exportId: string;
      jobId: string;
      format: "csv" | "xlsx" | "jsonl";
      options: unknown;
      state: "QUEUED" | "RUNNING" | "PAUSED" | "DONE" | "FAILED" | "CANCELLED" | null;
      progress: number | null;
      rows: number | null;
      bytes: number | null;
      cut: number | null;
      error: string | null;
      createdAt: string;
      writtenAt: string | null;
      fileId: string | null;
      url?: string | null;
      expiresAt?: string | null;
    };
    ListedSheet: {
      id: string;
      jobId: string;
      intakeJobId: string | null;
      name: string;
      source: string | null;
      kind: "csv" | "xlsx" | "image" | "images" | null;
      size: number | null;
      problem: string | null;
      createdAt: string;
      receivedAt: string | null;
      readAt: string | null;
      state: "QUEUED" | "RUNNING" | "PAUSED" | "DONE" | "FAILED" | "CANCELLED" | null;
      counters: components['schemas']["Counters"] | null;
    };
    Me: {
      name: string;
      role: "user" | "admin";
      kind: "session" | "token" | "service";
      scopes: string[];
      expiresAt?: string | null;
    };
    MessageResult: {
      messageId: number;
      bookmarkId: number | null;
      success: boolean;
      archived: boolean;
      screenshotSuccess?: boolean | null;
      remainingDataSuccess?: boolean | null;
      error?: string | null;
    };
    NewBookmark: {
      url: string;
      title?: string | null;
      note?: string | null;
      tags?: string[] | null;
      categoryId?: string | null;
      favicon?: string | null;
    };
    NewCategory: {
      name: string;
    };
    NewPassword: {
      old?: string | null;
      new: string;
    };
    NewSignal: {
      name: string;
      key: string;
      payload?: unknown;
      keepSeconds?: number;
    };
    NewToken: {
      name: string;
      scopes?: ("read" | "write" | "admin")[];
      expiresInDays?: number | null;
    };
    PipelineInfo: {
      name: string;
      title: string;
      noun: string;
      internal: boolean;
      package: string | null;
      steps: components['schemas']["StepInfo"][];
      inputSchema: Record<string, unknown>;
    };
    ProviderInfo: {
      name: string;
      enabled: boolean;
      builtIn: boolean;
      priority: number;
      strategies: string[];
      state: "disabled" | "unused" | "open" | "closed";
      closedBecause: string | null;
      closedSeconds: number;
      problem: string | null;
      concurrencyLimit: number;
      throttleRatio: number;
      seconds: number | null;
      asked: number;
      answered: number;
      notFound: number;
      throttled: number;
      failed: number;
      remembered: number;
    };
    ProviderList: {
      providers: components['schemas']["ProviderInfo"][];
      problem: string | null;
    };
    Queue: {
      pipeline: string;
      step: string;
      queue: string;
      pending: number;
      processing: number;
      onHold: number;
      nextAt: string | null;
      paused: boolean;
      parked: string | null;
    };
    QueueChanged: {
      changed: boolean;
    };
    Reference: {
      id: string;
    };
    Reprocess: {
      scope?: "job" | "items";
      itemIds?: string[] | null;
      statuses?: ("DONE" | "SKIPPED" | "NOT_FOUND" | "ERROR")[];
      resetAttempts?: boolean;
      restart?: boolean;
      providers?: string[] | null;
    };
    Reprocessed: {
      items: number;
      leftOut?: Record<string, number>;
    };
    RetryInfo: {
      attempts: number;
      notFound: number;
    };
    SessionRow: {
      id: string;
      createdAt: string;
      seenAt: string;
      expiresAt: string;
      ip: string | null;
      agent: string | null;
      current: boolean;
    };
    SheetInfo: {
      id: string;
      jobId: string;
      intakeJobId: string | null;
      name: string;
      source: string | null;
      kind: "csv" | "xlsx" | "image" | "images" | null;
      size: number | null;
      problem: string | null;
      createdAt: string;
      receivedAt: string | null;
      readAt: string | null;
      path: string | null;
      received: number;
      fileId: string | null;
      columns: string[] | null;
      mapping: Record<string, string> | null;
      decimalMark: string | null;
      currency: string | null;
      suggestions: components['schemas']["FieldSuggestion"][] | null;
      encoding: string | null;
      delimiter: string | null;
      quote: string | null;
      notes: string[] | null;
      tab: string | null;
      tabs: string[] | null;
      hasHeader: boolean | null;
      warnings: string[];
      providers: string[] | null;
      options: Record<string, unknown>;
    };
    SheetPage: {
      sheets: components['schemas']["ListedSheet"][];
      next: string | null;
    };
    SignIn: {
      name: string;
      password: string;
    };
    SignalWait: {
      step: string;
      signal: string;
      key: string;
      until: string | null;
    };
    Signalled: {
      tasks: number;
    };
    SourceInfo: {
      name: string;
      kind: string;
      owner: string;
      patterns: string[];
      recursive: boolean;
      schedule: string | null;
      timezone: string;
      after: string;
    };
    SourceList: {
      sources: components['schemas']["SourceInfo"][];
    };
    StepInfo: {
      name: string;
      after: string[];
      optional: boolean;
      afterAll: boolean;
      batch: number | null;
      kind: "async" | "thread" | "process";
      queue: string;
      retry: components['schemas']["RetryInfo"];
      timeoutS: number | null;
      doc: string;
    };
    StepReport: {
      success: boolean;
      message: string;
      jobId: string;
    };
    StepState: {
      name: string;
      state: "DONE" | "FAILED" | "OPEN";
      result?: unknown;
    };
    TagList: {
      tags: components['schemas']["TagUse"][];
    };
    TagUse: {
      tag: string;
      bookmarks: number;
    };
    TokenMade: {
      id: string;
      name: string;
      hint: string;
      scopes: string[];
      createdAt: string;
      expiresAt: string | null;
      usedAt: string | null;
      revokedAt: string | null;
      token: string;
    };
    TokenRow: {
      id: string;
      name: string;
      hint: string;
      scopes: string[];
      createdAt: string;
      expiresAt: string | null;
      usedAt: string | null;
      revokedAt: string | null;
    };
    Totals: {
      pipeline: string;
      total: number;
      pending: number;
      processing: number;
      done: number;
      skipped: number;
      notFound: number;
      error: number;
    };
    Version: {
      at: string;
      title: string | null;
      words: number | null;
      difference: string | null;
    };
    VersionPage: {
      changes: components['schemas']["Version"][];
      next: string | null;
    };
    WantedScan: {
      source?: string | null;
    };
    WholeBookmark: {
      id: string;
      url: string;
      title: string | null;
      description: string | null;
      note: string | null;
      tags: string[];
      categoryId: string | null;
      site: string | null;
      language: string | null;
      kind: "page" | "pdf" | "image" | "file" | "login" | "captcha" | "error" | null;
      kindReason: string | null;
      httpStatus: number | null;
      publishedAt: string | null;
      words: number | null;
      readingMinutes: number | null;
      caption: string | null;
      image: unknown;
      files: Record<string, components['schemas']["FileRef"]>;
      duplicateOf: string | null;
      archivedAt: string | null;
      createdAt: string;
      updatedAt: string;
      crawledAt: string | null;
      changedAt: string | null;
      crawlEveryHours: number | null;
      nextCrawlAt: string | null;
      jobId: string | null;
      status: "PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED";
      error: unknown;
      author: string | null;
      canonicalUrl: string | null;
      modifiedAt: string | null;
      text: string | null;
      ocr: string | null;
      facts: unknown;
      notes: unknown;
    };
    WorkerList: {
      isRunning: boolean;
      isHealthy: boolean;
      workers: components['schemas']["WorkerStatus"][];
      pendingCount: number;
    };
    WorkerStatus: {
      name: string;
      isRunning: boolean;
      isHealthy: boolean;
      stuck: boolean;
      lastSeen: string;
      lastProcessed: string | null;
      lastError: string | null;
      processedCount: number;
      succeededCount: number;
      failedCount: number;
      inFlight: number;
      staleReports: number;
      upSince: string;
      upSeconds: number;
      averageMs: number | null;
      steps: Record<string, unknown>;
      machine: Record<string, unknown>;
    };
  };
}
export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  id?: string;
  signIn?: string;
  errors?: {
    field: string;
    reason: string;
  }[];
};
