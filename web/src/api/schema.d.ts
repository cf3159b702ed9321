// Written by scripts/web_client.py from the routes of the API: do not edit.

export interface paths {
  "/api/jobs": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { after?: string | null; pageSize?: number; pipeline?: string | null; state?: string | null; from?: string | null; to?: string | null; q?: string | null; minItems?: number | null; maxItems?: number | null; userId?: string }; header?: never; path?: never; cookie?: never };
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
  "/api/jobs/folded": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { after?: string | null; pageSize?: number; pipeline?: string | null; state?: string | null; from?: string | null; to?: string | null; q?: string | null; minItems?: number | null; maxItems?: number | null; userId?: string }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["FoldedJobPage"] } };
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
  "/api/jobs/counts": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { userId?: string }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["JobCounts"] } };
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
  "/api/jobs/{job_id}/graph": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Graph"] } };
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
  "/api/jobs/{job_id}/ribbon": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { buckets?: number }; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Ribbon"] } };
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
  "/api/jobs/{job_id}/items": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { statuses?: string | null; status?: string | null; step?: string | null; from?: string | null; to?: string | null; after?: string | null; sort?: string; pageSize?: number }; header?: never; path: { job_id: string }; cookie?: never };
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
  "/api/jobs/{job_id}/items/{item_id}/pause": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { job_id: string; item_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ItemChanged"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}/items/{item_id}/resume": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { job_id: string; item_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ItemChanged"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}/items/{item_id}/start": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { job_id: string; item_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ItemChanged"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/jobs/{job_id}/items/{item_id}/cancel": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { job_id: string; item_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ItemChanged"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
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
      parameters: { query?: { userId?: string; jobId?: string | null; itemId?: string | null; step?: string | null; outcome?: "DONE" | "SKIPPED" | "NOT_FOUND" | "ERROR" | "CANCELLED" | "SNOOZED" | "THROTTLED" | "RELEASED" | "EXPIRED" | null; worker?: string | null; errorClass?: string | null; from?: string | null; to?: string | null; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
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
      parameters: { query?: { userId?: string; jobId?: string | null; actor?: string | null; action?: string | null; from?: string | null; to?: string | null; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
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
      parameters: { query?: { userId?: string; pipeline?: string | null; step?: string | null; jobId?: string | null; errorClass?: string | null; reason?: string | null; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
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
  "/api/jobs/{job_id}/items/{item_id}/why": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { job_id: string; item_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Why"] } };
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
  "/api/jobs/{job_id}/why": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Why"] } };
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
  "/api/why": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query: { jobIds: string }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["WhyJobs"] } };
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
  "/api/queues/{name}/why": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { name: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Why"] } };
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
  "/api/dead-letters/summary": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { userId?: string; by?: string; pipeline?: string | null; step?: string | null; jobId?: string | null; errorClass?: string | null; reason?: string | null }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["DeadLetterSummary"] } };
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
  "/api/dead-letters/reprocess": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: { "Idempotency-Key"?: string }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["ReprocessLetters"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ReprocessedLetters"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/dead-letters/results": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["RetriedItems"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["RetryResults"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
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
  "/api/files/{file_id}/thumbnail": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { w?: "160" | "320" | "640" }; header?: never; path: { file_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "image/webp": Blob } };
        206: { headers: { [name: string]: unknown }; content: { "*/*": Blob } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head: {
      parameters: { query?: { w?: "160" | "320" | "640" }; header?: never; path: { file_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "image/webp": Blob } };
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
      parameters: { query?: { topics?: string | null; jobId?: string | null; pipeline?: string | null; userId?: string; after?: string | null }; header?: { "Last-Event-ID"?: string | null }; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "text/event-stream": components['schemas']["Job"] | components['schemas']["ItemRow"] | components['schemas']["ItemProgress"] | components['schemas']["Digest"] | components['schemas']["Gone"] | components['schemas']["Tick"] } };
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
  "/api/overview": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { userId?: string }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Overview"] } };
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
  "/api/health/verdict": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { userId?: string }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Health"] } };
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
  "/api/lanes": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { userId?: string; limit?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["LaneList"] } };
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
  "/api/series": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { minutes?: number; pipeline?: string | null; step?: string | null }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Series"] } };
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
  "/api/series/depth": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { minutes?: number; pipeline?: string | null; step?: string | null }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["DepthSeries"] } };
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
  "/api/controllers": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ControllerList"] } };
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
  "/api/series/owners": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["OwnerSeriesList"] } };
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
  "/api/queues/{name}/demand": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { targetS?: number; taskS?: number }; header?: never; path: { name: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Demand"] } };
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
  "/api/owners": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { userId?: string; prefix?: string; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["OwnerPage"] } };
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
  "/api/owners/{name}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch: {
      parameters: { query?: never; header?: never; path: { name: string }; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["ChangeOwner"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Owner"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    trace?: never;
  };
  "/api/limits": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["LimitPage"] } };
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
  "/api/hosts": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["HostPage"] } };
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
  "/api/schedules": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { userId?: string; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SchedulePage"] } };
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
  "/api/schedules/{name}/pause": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { name: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Schedule"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/schedules/{name}/resume": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { name: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Schedule"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/schedules/{name}/run": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { name: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ScheduleRun"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/storage": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { userId?: string }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Storage"] } };
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
  "/api/settings": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SettingList"] } };
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
  "/api/doctor": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["DoctorReport"] } };
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
  "/api/me/preferences": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Preferences"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { "application/json": Record<string, unknown> } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Preferences"] } };
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
  "/api/me/export": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/zip": unknown } };
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
  "/api/suggest": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query: { q: string }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SuggestionList"] } };
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
  "/api/articles/drafts": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["DraftList"] } };
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
  "/api/articles/drafts/{key}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { key: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Draft"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put: {
      parameters: { query?: never; header?: never; path: { key: string }; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["DraftContent"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Draft"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    post?: never;
    delete: {
      parameters: { query?: never; header?: never; path: { key: string }; cookie?: never };
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
  "/api/articles/stats": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["QueueStats"] } };
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
  "/api/articles/tasks": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { status?: ("pending" | "processing" | "completed" | "failed")[] | null; article?: string | null; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["EmbeddingTaskPage"] } };
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
  "/api/articles/tasks/{task_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { task_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["EmbeddingTaskInfo"] } };
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
  "/api/articles/tasks/retry": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["RetriedTasks"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/articles/tasks/clear": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: { content: { "application/json": components['schemas']["ClearRequest"] | null } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Cleared"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/articles/reindex": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: { content: { "application/json": components['schemas']["ReindexRequest"] | null } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ReindexJob"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/articles/{article_id}/embed": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { article_id: string }; cookie?: never };
      requestBody?: { content: { "application/json": components['schemas']["EmbedRequest"] | null } };
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["TaskJob"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/articles/{article_id}/log": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { article_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ArticleLog"] } };
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
  "/api/articles": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { embedding?: ("fresh" | "stale" | "waiting" | "failed" | "off")[] | null; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ArticlePage"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; header?: { "Idempotency-Key"?: string }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["NewArticle"] } };
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Article"] | components['schemas']["Reference"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/articles/by-slug/{slug}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { slug: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["WholeArticle"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put: {
      parameters: { query?: never; header?: { "If-Match"?: string | null }; path: { slug: string }; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["ArticleChange"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Article"] | components['schemas']["Reference"] } };
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
  "/api/articles/{article_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { article_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["WholeArticle"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put: {
      parameters: { query?: never; header?: { "If-Match"?: string | null }; path: { article_id: string }; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["ArticleChange"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Article"] | components['schemas']["Reference"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    post?: never;
    delete: {
      parameters: { query?: never; header?: { "If-Match"?: string | null }; path: { article_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["TaskJob"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/articles/{article_id}/html": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { article_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ArticleHtml"] } };
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
  "/api/articles/{article_id}/versions": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { after?: string | null; pageSize?: number }; header?: never; path: { article_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ArticleVersionPage"] } };
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
  "/api/articles/{article_id}/versions/{version}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { article_id: string; version: number }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["WholeVersion"] } };
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
  "/api/articles/{article_id}/difference": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query: { before: number; after: number }; header?: never; path: { article_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["VersionDifference"] } };
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
  "/api/articles/{article_id}/versions/{version}/restore": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: { "If-Match"?: string | null }; path: { article_id: string; version: number }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Article"] | components['schemas']["Reference"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/article-files/uploads": {
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
  "/api/article-files/uploads/{upload_id}": {
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
  "/api/article-files/sources": {
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
  "/api/article-files/scan": {
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
  "/api/attachments/hooks/{source}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { source: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": Record<string, string> } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/attachments/instances": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { after?: string | null; source?: string | null; status?: "PENDING" | "DOWNLOADED" | "FAILED" | null; q?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["InstancePage"] } };
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
  "/api/attachments/instances/{instance_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { instance_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["InstanceDetail"] } };
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
  "/api/attachments/instances/{instance_id}/retry": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { instance_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["RetriedFiles"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/attachments/files": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query: { status: "PENDING" | "DOWNLOADED" | "FAILED"; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["FilePage"] } };
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
  "/api/attachments/files/pending": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { limit?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["AttachmentFile"][] } };
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
  "/api/attachments/files/failed": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { limit?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["AttachmentFile"][] } };
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
  "/api/attachments/files/{attachment_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { attachment_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["AttachmentFile"] } };
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
  "/api/attachments/files/{attachment_id}/retry": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { attachment_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["RetriedFiles"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/attachments/retry": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["RetriedFiles"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/attachments/deliveries": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { after?: string | null; source?: string | null; verdict?: "ACCEPTED" | "DUPLICATE" | "IGNORED" | "CHALLENGE" | "REJECTED" | null; instanceId?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["DeliveryPage"] } };
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
  "/api/attachments/status": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["AttachmentStatus"] } };
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
  "/api/attachments/quota": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Quota"][] } };
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
  "/api/attachments/sources": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SenderInfo"][] } };
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
  "/api/bookmarks/import/preview": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { "multipart/form-data": {
        file: Blob;
      } } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ImportPreview"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/bookmarks/facets": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { q?: string | null; categoryId?: string | null; tag?: string[]; kind?: ("page" | "pdf" | "image" | "file" | "login" | "captcha" | "error")[]; site?: string[]; status?: ("PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED")[]; since?: string | null; until?: string | null; archived?: boolean | null; everything?: boolean; duplicates?: boolean; trash?: boolean }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["BookmarkFacets"] } };
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
  "/api/bookmarks/bulk": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["BulkRequest"] } };
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["BulkResult"] } };
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
      parameters: { query?: { after?: string | null; sort?: "newest" | "oldest"; pageSize?: number; q?: string | null; categoryId?: string | null; tag?: string[]; kind?: ("page" | "pdf" | "image" | "file" | "login" | "captcha" | "error")[]; site?: string[]; status?: ("PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED")[]; since?: string | null; until?: string | null; archived?: boolean | null; everything?: boolean; duplicates?: boolean; trash?: boolean }; header?: never; path?: never; cookie?: never };
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
      parameters: { query?: { purge?: boolean }; header?: never; path: { bookmark_id: string }; cookie?: never };
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
  "/api/bookmarks/{bookmark_id}/restore": {
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
      requestBody?: { content: { "application/json": components['schemas']["CrawlRequest"] | null } };
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
  "/api/search": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query: { q: string; mode?: "words" | "meaning" | "both"; kind?: string[] | null; tag?: string[] | null; since?: string | null; until?: string | null; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SearchPage"] } };
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
  "/api/search/similar": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query: { ofKind: string; ref: string; kind?: string[] | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SearchHit"][] } };
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
  "/api/search/saved": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SavedSearch"][] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["NewSavedSearch"] } };
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SavedSearch"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/search/saved/{search_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; header?: never; path: { search_id: string }; cookie?: never };
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
  "/api/search/saved/{search_id}/feed": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { search_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["FeedAddress"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete: {
      parameters: { query?: never; header?: never; path: { search_id: string }; cookie?: never };
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
  "/api/search/feeds/{token}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { token: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/atom+xml": string } };
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
  "/api/shares": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { after?: string | null; q?: string | null; state?: ("pending" | "processing" | "retry" | "completed" | "failed")[] | null; kind?: ("video" | "audio" | "image" | "playlist" | "file")[] | null; playlistId?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SharePage"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post: {
      parameters: { query?: never; header?: { "Idempotency-Key"?: string }; path?: never; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["NewShares"] } };
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["AddedShares"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/shares/{share_id}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { share_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["Share"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put?: never;
    post?: never;
    delete: {
      parameters: { query?: never; header?: never; path: { share_id: string }; cookie?: never };
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
  "/api/shares/{share_id}/retry": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: never; path: { share_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["RetriedShare"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/shares/{share_id}/transcript": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { share_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["ShareTranscript"] } };
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
  "/api/shares/{share_id}/transcript/search": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query: { q: string }; header?: never; path: { share_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["TranscriptMatches"] } };
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
  "/api/shares/{share_id}/transcript.{form}": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { share_id: string; form: "srt" | "vtt" | "txt" }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content?: never };
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
  "/api/media/uploads": {
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
  "/api/media/uploads/{upload_id}": {
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
  "/api/media/sources": {
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
  "/api/media/scan": {
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
  "/api/sheets/{job_id}/preview": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { header?: boolean | null; encoding?: string | null; delimiter?: string | null; sheet?: string | null }; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SheetPreview"] } };
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
  "/api/sheets/{job_id}/reread": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get?: never;
    put?: never;
    post: {
      parameters: { query?: never; header?: { "Idempotency-Key"?: string }; path: { job_id: string }; cookie?: never };
      requestBody: { content: { "application/json": components['schemas']["Reread"] } };
      responses: {
        201: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SheetRef"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/sheets/{job_id}/preset": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SheetPreset"] } };
        default: { headers: { [name: string]: unknown }; content: { "application/problem+json": Problem; "application/json": Problem } };
      };
    };
    put: {
      parameters: { query?: never; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
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
  "/api/sheets/{job_id}/estimate": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: never; header?: never; path: { job_id: string }; cookie?: never };
      requestBody?: never;
      responses: {
        200: { headers: { [name: string]: unknown }; content: { "application/json": components['schemas']["SheetEstimate"] } };
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
  "/api/jobs/{job_id}/grid": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { statuses?: string | null; show?: string | null; after?: string | null; from?: number | null; before?: number | null; q?: string | null; pageSize?: number }; header?: never; path: { job_id: string }; cookie?: never };
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
      parameters: { query?: { format?: "csv" | "xlsx" | "jsonl"; statuses?: string | null; show?: string | null; raw?: boolean; from?: number | null; to?: number | null; rows?: string | null }; header?: { "Idempotency-Key"?: string }; path: { job_id: string }; cookie?: never };
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
  "/api/exports": {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    get: {
      parameters: { query?: { userId?: string; after?: string | null; pageSize?: number }; header?: never; path?: never; cookie?: never };
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
    AddedShares: {
      shares: (components['schemas']["Share"] | components['schemas']["Reference"])[];
    };
    AppInfo: {
      me: components['schemas']["Me"];
      version: string;
      features: Record<string, boolean>;
      limits: components['schemas']["AppLimits"];
      pipelines: components['schemas']["PipelineInfo"][];
      problems: number;
      eventId: string;
    };
    AppLimits: {
      page: number;
      uploadBytes: number;
      items: number;
      streams: number;
      linkS: number;
    };
    Article: {
      id: string;
      slug: string;
      title: string;
      excerpt: string;
      words: number;
      version: number;
      skipEmbedding: boolean;
      embedding: "fresh" | "stale" | "waiting" | "failed" | "off";
      embeddingProblem: string | null;
      embeddedVersion: number | null;
      embeddedAt: string | null;
      jobId: string | null;
      createdAt: string;
      updatedAt: string;
    };
    ArticleChange: {
      title?: string | null;
      content?: string | null;
      slug?: string | null;
      message?: string | null;
      skipEmbedding?: boolean | null;
      embeddingPriority?: "high" | "normal" | "low";
      version?: number | null;
      draft?: string | null;
    };
    ArticleHtml: {
      id: string;
      version: number;
      html: string;
    };
    ArticleLog: {
      entries: components['schemas']["LogEntry"][];
    };
    ArticlePage: {
      articles: components['schemas']["Article"][];
      next: string | null;
    };
    ArticleVersion: {
      version: number;
      title: string;
      message: string | null;
      createdAt: string;
      characters: number;
    };
    ArticleVersionPage: {
      versions: components['schemas']["ArticleVersion"][];
      next: string | null;
    };
    AttachmentFile: {
      id: string;
      instanceId: string;
      name: string;
      status: "PENDING" | "DOWNLOADED" | "FAILED";
      attempts: number;
      error: string | null;
      size: number | null;
      sha256: string | null;
      mediaType: string | null;
      fileId: string | null;
      jobId: string | null;
      n: number | null;
      createdAt: string;
      lastAttemptAt: string | null;
      nextRetryAt: string | null;
      downloadedAt: string | null;
      removedAt: string | null;
    };
    AttachmentStatus: {
      isRunning: boolean;
      lastProcessed: string | null;
      pendingCount: number;
      processedCount: number;
      failedCount: number;
      upSinceSeconds: number | null;
      isHealthy: boolean;
      lastError: string | null;
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
      claimedAt: string | null;
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
      next: string | null;
      searched: number;
      searchedTo: string | null;
      audit: components['schemas']["AuditRow"][];
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
      deletedAt?: string | null;
      createdAt: string;
      updatedAt: string;
      crawledAt: string | null;
      changedAt: string | null;
      crawlEveryHours: number | null;
      nextCrawlAt: string | null;
      jobId: string | null;
      status: "PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED";
      error: unknown;
      steps?: components['schemas']["BookmarkStep"][] | null;
    };
    BookmarkChange: {
      title?: string | null;
      note?: string | null;
      tags?: string[] | null;
      categoryId?: string | null;
      crawlEveryHours?: number | null;
    };
    BookmarkFacets: {
      total: number;
      isExact: boolean;
      kinds: components['schemas']["Count"][];
      tags: components['schemas']["Count"][];
      categories: components['schemas']["Count"][];
      sites: components['schemas']["Count"][];
      statuses: components['schemas']["Count"][];
      archived: number;
      duplicates: number;
    };
    BookmarkPage: {
      bookmarks: (components['schemas']["Bookmark"] | components['schemas']["FoundBookmark"])[];
      next: string | null;
    };
    BookmarkStep: {
      name: "screenshot" | "metadata" | "images" | "favicon" | "ocr" | "caption";
      after: string[];
      optional: boolean;
      state: "WAITING" | "SCHEDULED" | "RUNNING" | "HELD" | "BLOCKED" | "DONE" | "SKIPPED" | "NOT_FOUND" | "FAILED";
      startedAt: string | null;
      endedAt: string | null;
      nextAt: string | null;
      attempt: number | null;
      reason: string | null;
    };
    BulkFilter: {
      q?: string | null;
      categoryId?: string | null;
      tags?: string[];
      kinds?: ("page" | "pdf" | "image" | "file" | "login" | "captcha" | "error")[];
      sites?: string[];
      statuses?: ("PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED")[];
      since?: string | null;
      until?: string | null;
      archived?: boolean | null;
      duplicates?: boolean | null;
      trash?: boolean;
    };
    BulkRequest: {
      ids?: string[] | null;
      filter?: components['schemas']["BulkFilter"] | null;
      do: "tag" | "untag" | "archive" | "unarchive" | "category" | "delete" | "restore" | "purge" | "crawl";
      tags?: string[] | null;
      categoryId?: string | null;
      only?: ("screenshot" | "metadata" | "images" | "favicon" | "ocr" | "caption")[] | null;
      after?: string | null;
      dryRun?: boolean;
    };
    BulkResult: {
      matched: number;
      changed: number;
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
    ChangeOwner: {
      weight?: number | null;
      maxOpenJobs?: number | null;
      maxOpenItems?: number | null;
      submitsPerMinute?: number | null;
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
    Children: {
      total: number;
      done: number;
      failed: number;
      jobIds: string[];
      isCut: boolean;
    };
    ClaimSize: {
      itemMs?: number | null;
      value?: number | null;
    };
    ClearRequest: {
      olderThanDays?: number | null;
    };
    Cleared: {
      cleared: number;
    };
    ConcurrencyLimit: {
      limit?: number | null;
      least?: number | null;
      most?: number | null;
      latencyMs?: number | null;
    };
    ConsumerReport: {
      success: boolean;
      message: string;
      processedCount: number;
      archivedCount: number;
      failedCount: number;
      results: components['schemas']["MessageResult"][];
    };
    Controlled: {
      value: number | null;
      least: number | null;
      most: number | null;
    };
    ControllerHistory: {
      running: (number | null)[];
      concurrency: (number | null)[];
      claimSize: (number | null)[];
      itemMs: (number | null)[];
      leaseS: (number | null)[];
    };
    ControllerInputs: {
      latencyMs: number | null;
      itemMs: number | null;
      failureShare: number;
      retrySpacing: number;
      machineShare: number | null;
      heartbeatGapS: number | null;
    };
    ControllerList: {
      at: string;
      minutes: string[];
      steps: components['schemas']["StepController"][];
    };
    Controllers: {
      running: number;
      limit: number;
      claim: number;
      itemMs: number | null;
    };
    Count: {
      value: string;
      bookmarks: number;
    };
    Counters: {
      total: number;
      pending: number;
      done: number;
      skipped: number;
      notFound: number;
      error: number;
    };
    CrawlRequest: {
      only?: ("screenshot" | "metadata" | "images" | "favicon" | "ocr" | "caption")[] | null;
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
    DeadLetterGroup: {
      pipeline: string;
      step: string | null;
      errorClass: string | null;
      reason: string | null;
      count: number;
      firstAt: string;
      lastAt: string;
      perHour: number[];
    };
    DeadLetterPage: {
      deadLetters: components['schemas']["DeadLetter"][];
      next: string | null;
      searchedTo: string | null;
    };
    DeadLetterSummary: {
      groups: components['schemas']["DeadLetterGroup"][];
      groupCount: number;
      searched: number;
      searchedTo: string | null;
      complete: boolean;
    };
    Delivery: {
      id: string;
      source: string;
      verdict: "ACCEPTED" | "DUPLICATE" | "IGNORED" | "CHALLENGE" | "REJECTED";
      reason: string | null;
      key: string | null;
      event: string | null;
      bytes: number;
      ip: string | null;
      instanceId: string | null;
      receivedAt: string;
    };
    DeliveryPage: {
      items: components['schemas']["Delivery"][];
      next: string | null;
    };
    Demand: {
      slots: number;
      waiting: number;
      running: number;
    };
    DepthSeries: {
      everyS: number;
      at: string[];
      steps: components['schemas']["StepDepths"][];
    };
    Digest: {
      jobId: string;
      from: number;
      to: number;
      counts: components['schemas']["Counters"];
    };
    Dismiss: {
      scope?: "job" | "items";
      itemIds?: string[] | null;
    };
    Dismissed: {
      deadLetters: number;
    };
    DoctorFinding: {
      level: "OK" | "WARN" | "FAIL";
      about: string;
      text: string;
      fix: string | null;
    };
    DoctorReport: {
      at: string;
      ok: boolean;
      findings: components['schemas']["DoctorFinding"][];
    };
    Draft: {
      key: string;
      articleId: string | null;
      baseVersion: number | null;
      title: string;
      content: string;
      updatedAt: string;
    };
    DraftContent: {
      title?: string;
      content?: string;
      articleId?: string | null;
      baseVersion?: number | null;
    };
    DraftList: {
      drafts: components['schemas']["Draft"][];
    };
    EmbedRequest: {
      priority?: "high" | "normal" | "low";
    };
    EmbeddingTaskInfo: {
      id: string;
      articleId: string;
      slug: string;
      operation: "create" | "update" | "delete";
      priority: "high" | "normal" | "low";
      status: "pending" | "processing" | "completed" | "failed";
      attempts: number;
      maxAttempts: number;
      createdAt: string;
      scheduledAt: string;
      processedAt: string | null;
      completedAt: string | null;
      errorMessage: string | null;
      metadata: unknown;
      jobId: string;
      item: number;
    };
    EmbeddingTaskPage: {
      tasks: components['schemas']["EmbeddingTaskInfo"][];
      next: string | null;
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
    Fact: {
      name: string;
      value: string;
    };
    Facts: {
      ahead?: number | null;
      aheadExact?: boolean | null;
      attempt?: number | null;
      batch?: number | null;
      by?: string | null;
      endsAt?: string | null;
      class?: string | null;
      fraction?: number | null;
      freeMemory?: number | null;
      heldSeconds?: number | null;
      higher?: number | null;
      higherExact?: boolean | null;
      inUse?: number | null;
      item?: string | null;
      itemMs?: number | null;
      items?: number | null;
      key?: string | null;
      lagMs?: number | null;
      leader?: boolean | null;
      left?: number | null;
      limit?: string | null;
      lingerSeconds?: number | null;
      load?: number | null;
      maxAttempts?: number | null;
      needs?: string[] | null;
      note?: string | null;
      owners?: number | null;
      perSeconds?: number | null;
      priority?: number | null;
      queue?: string | null;
      queued?: number | null;
      rate?: number | null;
      reason?: string | null;
      running?: number | null;
      sealed?: boolean | null;
      seconds?: number | null;
      share?: number | null;
      signal?: string | null;
      slots?: number | null;
      tasks?: number | null;
      tasksExact?: boolean | null;
      version?: number | null;
      worker?: string | null;
      workers?: number | null;
    };
    Failures: {
      share?: number | null;
      spacing?: number | null;
    };
    FeedAddress: {
      url: string;
    };
    FieldSuggestion: {
      field: string;
      column: string;
      score: number;
      reason: string;
    };
    FileCounts: {
      pending: number;
      downloaded: number;
      failed: number;
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
    FilePage: {
      items: components['schemas']["AttachmentFile"][];
      next: string | null;
    };
    FileRef: {
      id: string;
      url: string;
      width?: number | null;
      height?: number | null;
      blurhash?: string | null;
      thumb?: string | null;
    };
    FoldedJobPage: {
      next: string | null;
      searched: number;
      searchedTo: string | null;
      entries: components['schemas']["JobEntry"][];
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
      deletedAt?: string | null;
      createdAt: string;
      updatedAt: string;
      crawledAt: string | null;
      changedAt: string | null;
      crawlEveryHours: number | null;
      nextCrawlAt: string | null;
      jobId: string | null;
      status: "PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED";
      error: unknown;
      steps?: components['schemas']["BookmarkStep"][] | null;
      rank: number;
      snippet: string;
    };
    Gone: {
      kind: "job";
      id: string;
    };
    Graph: {
      at: string;
      steps: components['schemas']["GraphStep"][];
    };
    GraphStep: {
      name: string;
      after: string[];
      optional: boolean;
      afterAll: boolean;
      queue: string;
      paused: boolean;
      parked: string | null;
      waiting: number;
      scheduled: number;
      running: number;
      onHold: number;
      done: number;
      failed: number;
      notFound: number;
      skipped: number;
      exact: boolean;
    };
    GridColumn: {
      key: string;
      title: string;
      kind: "own" | "read" | "found" | "meta";
      type: "text" | "number" | "link" | "image" | "status" | "score";
    };
    GridPage: {
      columns: string[];
      columnDetails: components['schemas']["GridColumn"][];
      rows: components['schemas']["GridRow"][];
      total: number;
      searchedTo: number | null;
      next: string | null;
      previous: number | null;
    };
    GridRow: {
      id: string;
      status: "PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED";
      cells: (string | null)[];
    };
    Health: {
      level: "OK" | "WARN" | "FAIL";
      sentence: string;
      flow: components['schemas']["HealthPart"];
      execution: components['schemas']["HealthPart"];
      workers: components['schemas']["HealthPart"];
      ruledOut: string[];
    };
    HealthPart: {
      level: "OK" | "WARN" | "FAIL";
      text: string;
    };
    HostInUse: {
      waiting: number;
      slots: number;
      wanted: number;
      workers: number;
      holdS: number | null;
      startsAt: string | null;
      seenAt: string | null;
      host: string;
    };
    HostPage: {
      concurrency: number;
      shared: boolean;
      hosts: components['schemas']["HostInUse"][];
      workers: components['schemas']["WorkerHosts"][];
      next: string | null;
    };
    ImportPreview: {
      links: number;
      known: number;
      repeated: number;
      invalid: number;
      folders: number;
    };
    InputSummary: {
      title: string | null;
      brand: string | null;
      sku: string | null;
    };
    Instance: {
      id: string;
      source: string;
      key: string;
      title: string | null;
      state: string | null;
      files: components['schemas']["FileCounts"];
      bytes: number;
      skipped: number;
      voucher: "WAITING" | "READY" | "PARTIAL" | "WITHHELD" | "NONE";
      voucherId: string | null;
      problem: string | null;
      jobId: string | null;
      createdAt: string;
      receivedAt: string;
      readAt: string | null;
      settledAt: string | null;
    };
    InstanceDetail: {
      id: string;
      source: string;
      key: string;
      title: string | null;
      state: string | null;
      files: components['schemas']["FileCounts"];
      bytes: number;
      skipped: number;
      voucher: "WAITING" | "READY" | "PARTIAL" | "WITHHELD" | "NONE";
      voucherId: string | null;
      problem: string | null;
      jobId: string | null;
      createdAt: string;
      receivedAt: string;
      readAt: string | null;
      settledAt: string | null;
      facts: components['schemas']["Fact"][];
      allFiles: components['schemas']["AttachmentFile"][];
      deliveries: components['schemas']["Delivery"][];
      voucherUrl: string | null;
      why: string | null;
      waitingJobId: string | null;
    };
    InstancePage: {
      items: components['schemas']["Instance"][];
      next: string | null;
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
      error: components['schemas']["ItemError"] | null;
      progress: components['schemas']["Progress"] | null;
      steps: components['schemas']["ItemStep"][];
      waits: components['schemas']["SignalWait"][];
      children: components['schemas']["Children"] | null;
      attempts: components['schemas']["Attempt"][];
      attemptsCut: boolean;
    };
    ItemChanged: {
      changed: boolean;
      status: "PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED";
    };
    ItemError: {
      step?: string | null;
      class?: string | null;
      reason?: string | null;
      attempt?: number | null;
    };
    ItemPage: {
      items: components['schemas']["ItemRow"][];
      next: string | null;
    };
    ItemProgress: {
      jobId: string;
      itemId: string;
      progress: components['schemas']["Progress"] | null;
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
      error: components['schemas']["ItemError"] | null;
      progress: components['schemas']["Progress"] | null;
      jobState: "QUEUED" | "RUNNING" | "PAUSED" | "DONE" | "FAILED" | "CANCELLED" | null;
    };
    ItemStep: {
      name: string;
      state: "WAITING" | "SCHEDULED" | "RUNNING" | "HELD" | "BLOCKED" | "DONE" | "SKIPPED" | "NOT_FOUND" | "FAILED";
      optional: boolean;
      after: string[];
      attempts: number;
      nextAt: string | null;
      startedAt: string | null;
      endedAt: string | null;
      worker: string | null;
      leaseUntil: string | null;
      errorClass: string | null;
      reason: string | null;
      result?: unknown;
    };
    Job: {
      id: string;
      parentId: string | null;
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
      subject: components['schemas']["JobSubject"] | null;
      children: components['schemas']["Children"] | null;
    };
    JobCounts: {
      states: components['schemas']["StateCounts"];
      exact: boolean;
      searched: number;
      searchedTo: string | null;
      lastId: string | null;
    };
    JobEntry: {
      job: components['schemas']["Job"] | null;
      group: components['schemas']["JobGroup"] | null;
    };
    JobGroup: {
      pipeline: string;
      hour: string;
      jobs: number;
      states: components['schemas']["StateCounts"];
      counters: components['schemas']["Counters"];
      firstId: string;
      lastId: string;
    };
    JobItems: {
      jobId: string;
      items: number;
      numbers: string;
    };
    JobPage: {
      next: string | null;
      searched: number;
      searchedTo: string | null;
      jobs: components['schemas']["Job"][];
    };
    JobRef: {
      jobId: string;
      created: boolean;
      items: number;
    };
    JobSubject: {
      kind: string;
      id: string;
      title: string | null;
    };
    KeyUnique: {
      states?: ("QUEUED" | "RUNNING" | "PAUSED" | "DONE" | "FAILED" | "CANCELLED")[] | null;
      periodSeconds?: number | null;
    };
    Kickoff: {
      settled: number;
      job: components['schemas']["Job"] | components['schemas']["Reference"];
    };
    KindCount: {
      kind: string;
      title: string;
      count: number;
    };
    Lane: {
      owner: string;
      jobId: string | null;
      limitName: string | null;
      limitKey: string | null;
      priority: number;
      weight: number;
      paused: boolean;
      ready: number;
      running: number;
      servedPerS: number;
      share: number | null;
      fairShare: number | null;
    };
    LaneList: {
      at: string;
      lanes: components['schemas']["Lane"][];
      owners: components['schemas']["OwnerShare"][];
      ownerCount: number;
      servedPerS: number;
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
    LetterChoice: {
      pipeline?: string | null;
      step?: string | null;
      jobId?: string | null;
      errorClass?: string | null;
      reason?: string | null;
    };
    LimitKey: {
      waiting: number;
      slots: number;
      wanted: number;
      workers: number;
      holdS: number | null;
      startsAt: string | null;
      seenAt: string | null;
      name: string;
      key: string;
    };
    LimitPage: {
      limits: components['schemas']["LimitKey"][];
      next: string | null;
    };
    LinkGood: {
      kind: "invitation" | "sign-in";
      role: "user" | "admin";
      name: string | null;
      hasPassword: boolean;
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
      received: number;
      state: "QUEUED" | "RUNNING" | "PAUSED" | "DONE" | "FAILED" | "CANCELLED" | null;
      counters: components['schemas']["Counters"] | null;
    };
    LogEntry: {
      at: string;
      event: "created" | "processing" | "retried" | "completed" | "failed" | "cancelled";
      jobId: string;
      item: number;
      attempt: number | null;
      reason: string | null;
    };
    Machine: {
      share?: number | null;
      lagMs?: number | null;
      load?: number | null;
      freeMemory?: number | null;
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
    NamedItems: {
      jobId: string;
      numbers: string;
    };
    NewArticle: {
      title: string;
      content: string;
      slug?: string | null;
      message?: string | null;
      skipEmbedding?: boolean;
      embeddingPriority?: "high" | "normal" | "low";
      draft?: string | null;
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
    NewSavedSearch: {
      name: string;
      question: components['schemas']["SearchQuestion"];
    };
    NewShare: {
      url: string;
      title?: string | null;
      priority?: number | null;
    };
    NewShares: {
      url?: string | null;
      title?: string | null;
      priority?: number;
      shares?: components['schemas']["NewShare"][] | null;
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
    Overview: {
      at: string;
      health: components['schemas']["Health"];
      tasksPerS: number | null;
      itemsPerS: number | null;
      steps: components['schemas']["StepDepth"][];
      workers: components['schemas']["WorkerCounts"];
      workerList: components['schemas']["WorkerSummary"][];
      lanes: components['schemas']["Lane"][];
      jobs: components['schemas']["Job"][];
      deadLetters: components['schemas']["DeadLetter"][];
      failedLastHour: number;
    };
    Owner: {
      id: string;
      name: string;
      weight: number;
      openJobs: components['schemas']["OwnerLimit"];
      openItems: components['schemas']["OwnerLimit"];
      submitsPerMinute: components['schemas']["OwnerLimit"];
      storedFiles: number;
      storedBytes: number;
      createdAt: string;
    };
    OwnerLimit: {
      most: number;
      isDefault: boolean;
      used: number | null;
    };
    OwnerPage: {
      owners: components['schemas']["Owner"][];
      next: string | null;
    };
    OwnerSeries: {
      owner: string;
      ready: number[];
      running: number[];
      attemptsPerS: number[];
      fairShare: (number | null)[];
    };
    OwnerSeriesList: {
      minutes: string[];
      owners: components['schemas']["OwnerSeries"][];
    };
    OwnerShare: {
      owner: string;
      weight: number;
      ready: number;
      running: number;
      servedPerS: number;
      share: number | null;
      fairShare: number;
    };
    OwnerStorage: {
      owner: string;
      files: number;
      bytes: number;
      kinds: components['schemas']["StoredKind"][];
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
    Poster: {
      id: string;
      url: string;
      width?: number | null;
      height?: number | null;
      blurhash?: string | null;
      thumb?: string | null;
    };
    Preferences: {
      value: unknown;
      updatedAt: string | null;
    };
    Preset: {
      mapping: Record<string, string>;
      decimalMark: string | null;
      currency: string | null;
      providers: string[] | null;
      usedAt: string;
    };
    PreviewRow: {
      line: number;
      cells: string[];
    };
    Progress: {
      step?: string | null;
      fraction?: number | null;
      note?: string | null;
      bytesDone?: number | null;
      bytesTotal?: number | null;
      bytesPerSecond?: number | null;
      endsAt?: string | null;
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
    QueueStats: {
      pending: number;
      processing: number;
      completed: number;
      failed: number;
    };
    Quota: {
      source: string;
      perSecond: number | null;
      perDay: number | null;
      used: number;
      left: number | null;
      nextAt: string | null;
    };
    ReadOptions: {
      header?: boolean | null;
      encoding?: string | null;
      delimiter?: string | null;
      sheet?: string | null;
    };
    ReaderBlock: {
      t: "h" | "p" | "li" | "quote" | "code" | "row" | "img";
      text?: string;
      level?: number | null;
      cells?: string[] | null;
      url?: string | null;
    };
    Reference: {
      id: string;
    };
    RefusedJob: {
      jobId: string;
      reason: string;
    };
    ReindexJob: {
      jobId: string | null;
      created: boolean;
      items: number;
    };
    ReindexRequest: {
      priority?: "high" | "normal" | "low";
    };
    Reprocess: {
      scope?: "job" | "items";
      itemIds?: string[] | null;
      statuses?: ("DONE" | "SKIPPED" | "NOT_FOUND" | "ERROR")[];
      resetAttempts?: boolean;
      restart?: boolean;
      providers?: string[] | null;
    };
    ReprocessLetters: {
      filter?: components['schemas']["LetterChoice"] | null;
      items?: components['schemas']["NamedItems"][] | null;
      userId?: "me" | "all";
      statuses?: ("DONE" | "SKIPPED" | "NOT_FOUND" | "ERROR")[];
      resetAttempts?: boolean;
      dryRun?: boolean;
    };
    Reprocessed: {
      items: number;
      leftOut?: Record<string, number>;
    };
    ReprocessedLetters: {
      jobs: number;
      items: number;
      leftOut: number;
      byJob: components['schemas']["JobItems"][];
      refused: components['schemas']["RefusedJob"][];
      searched: number;
      complete: boolean;
    };
    Reread: {
      options?: components['schemas']["ReadOptions"] | null;
      key?: string[];
    };
    RetriedFiles: {
      files: number;
      jobIds: string[];
    };
    RetriedItems: {
      jobs: components['schemas']["NamedItems"][];
    };
    RetriedShare: {
      jobId: string;
    };
    RetriedTasks: {
      retried: number;
    };
    RetryInfo: {
      attempts: number;
      notFound: number;
    };
    RetryResults: {
      done: number;
      skipped: number;
      failed: number;
      open: number;
    };
    Ribbon: {
      at: string;
      slices: components['schemas']["RibbonSlice"][];
    };
    RibbonSlice: {
      from: number;
      to: number;
      pending: number;
      processing: number;
      done: number;
      skipped: number;
      notFound: number;
      error: number;
      exact: boolean;
    };
    SavedSearch: {
      id: string;
      name: string;
      question: unknown;
      hasFeed: boolean;
      createdAt: string;
    };
    Schedule: {
      name: string;
      pipeline: string;
      owner: string;
      cron: string;
      timezone: string;
      priority: number;
      paused: boolean;
      declared: boolean;
      overlap: boolean;
      backfill: boolean;
      jitterSeconds: number;
      input: unknown;
      nextAt: string | null;
      lastAt: string | null;
      lastJobId: string | null;
      lastState: "QUEUED" | "RUNNING" | "PAUSED" | "DONE" | "FAILED" | "CANCELLED" | null;
    };
    SchedulePage: {
      schedules: components['schemas']["Schedule"][];
      next: string | null;
    };
    ScheduleRun: {
      jobId: string;
      created: boolean;
    };
    SearchHit: {
      kind: string;
      ref: string;
      title: components['schemas']["TextPart"][];
      snippet: components['schemas']["TextPart"][];
      path: string | null;
      url: string | null;
      tags: string[];
      language: string | null;
      writtenAt: string;
      second: number | null;
      details: unknown;
      score: number;
      byWords: number | null;
      byMeaning: number | null;
      isStale: boolean;
      indexedAt: string | null;
    };
    SearchPage: {
      hits: components['schemas']["SearchHit"][];
      kinds: components['schemas']["KindCount"][];
      mode: "words" | "meaning" | "both";
      corrected: string | null;
      notes: string[];
      next: string | null;
    };
    SearchQuestion: {
      q: string;
      mode?: "words" | "meaning" | "both";
      kinds?: string[];
      tags?: string[];
    };
    SenderInfo: {
      name: string;
      kind: "lark" | "declared";
      path: string;
      owner: string;
      isReady: boolean;
      problem: string | null;
    };
    Series: {
      at: string;
      points: components['schemas']["SeriesPoint"][];
    };
    SeriesPoint: {
      minute: string;
      pipeline: string;
      step: string;
      outcomes: Record<string, number>;
      errors: Record<string, number>;
      items: number;
      meanS: number | null;
      p50S: number | null;
      p95S: number | null;
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
    Setting: {
      package: string | null;
      variable: string;
      value: unknown;
      default: unknown;
      source: string;
      isSecret: boolean;
      meaning: string;
    };
    SettingList: {
      settings: components['schemas']["Setting"][];
    };
    Share: {
      id: string;
      url: string | null;
      title: string | null;
      description: string | null;
      author: string | null;
      site: string | null;
      language: string | null;
      kind: "video" | "audio" | "image" | "playlist" | "file" | null;
      publishedAt: string | null;
      durationS: number | null;
      width: number | null;
      height: number | null;
      videoCodec: string | null;
      audioCodec: string | null;
      container: string | null;
      media: components['schemas']["ShareMedia"];
      fileState: "waiting" | "downloading" | "retrying" | "ready" | "failed" | "removed" | "none";
      file: components['schemas']["ShareFile"] | null;
      poster: components['schemas']["Poster"] | null;
      progress: components['schemas']["ShareProgress"] | null;
      downloadStatus: "pending" | "processing" | "retry" | "completed" | "failed";
      downloadAttempts: number;
      downloadError: string | null;
      downloadStartedAt: string | null;
      downloadCompletedAt: string | null;
      transcriptStatus: "pending" | "processing" | "completed" | "skipped" | "failed";
      transcriptError: string | null;
      transcript: string | null;
      playlistId: string | null;
      playlistIndex: number | null;
      entries: number | null;
      readyEntries: number | null;
      priority: number;
      platformData: unknown;
      createdAt: string;
      updatedAt: string;
      jobId: string | null;
      item: string;
      jobState: string | null;
      status: "PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED";
      error: unknown;
    };
    ShareFile: {
      id: string;
      url: string;
      mediaType: string;
      size: number;
      sha256: string;
      link?: string | null;
      linkExpiresAt?: string | null;
    };
    ShareMedia: {
      url: string | null;
      type: "video" | "audio" | "image" | "playlist" | "file" | null;
      isStored: boolean;
    };
    SharePage: {
      shares: components['schemas']["Share"][];
      next: string | null;
    };
    ShareProgress: {
      step: string;
      fraction: number | null;
      note: string | null;
      bytesDone?: number | null;
      bytesTotal?: number | null;
      bytesPerSecond?: number | null;
      endsAt?: string | null;
    };
    ShareTranscript: {
      shareId: string;
      language: string | null;
      source: "subtitles" | "speech";
      model: string | null;
      createdAt: string;
      segments: components['schemas']["TranscriptSegment"][];
    };
    SheetEstimate: {
      rows: number;
      perSecond: number | null;
      seconds: number | null;
      pace: "own" | "all" | null;
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
      received: number;
      path: string | null;
      replacedBy: string | null;
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
    SheetPreset: {
      preset: components['schemas']["Preset"] | null;
    };
    SheetPreview: {
      kind: "csv" | "xlsx" | "image" | "images";
      encoding: string | null;
      delimiter: string | null;
      quote: string | null;
      tab: string | null;
      tabs: string[] | null;
      hasHeader: boolean | null;
      columns: string[];
      mapping: Record<string, string>;
      suggestions: components['schemas']["FieldSuggestion"][];
      rows: components['schemas']["PreviewRow"][];
      unreadable: components['schemas']["UnreadableRow"][];
      isAll: boolean;
    };
    SheetRef: {
      jobId: string;
      sheetId: string;
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
    StateCounts: {
      queued?: number;
      running?: number;
      paused?: number;
      done?: number;
      failed?: number;
      cancelled?: number;
    };
    StepController: {
      pipeline: string;
      step: string;
      workers: number;
      running: number;
      concurrency: components['schemas']["Controlled"];
      claimSize: components['schemas']["Controlled"];
      leaseS: components['schemas']["Controlled"];
      inputs: components['schemas']["ControllerInputs"];
      history: components['schemas']["ControllerHistory"];
    };
    StepDepth: {
      pipeline: string;
      step: string;
      queue: string;
      ready: number;
      scheduled: number;
      processing: number;
      onHold: number;
      nextAt: string | null;
      paused: boolean;
      parked: string | null;
      probeAt: string | null;
      oldestAt: string | null;
      controllers: components['schemas']["Controllers"] | null;
    };
    StepDepths: {
      pipeline: string;
      step: string;
      ready: number[];
      scheduled: number[];
      processing: number[];
      onHold: number[];
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
    StepStatus: {
      running?: number;
      queued?: number;
      ended?: number;
      limited?: boolean;
      claim?: components['schemas']["ClaimSize"] | null;
      concurrency?: components['schemas']["ConcurrencyLimit"] | null;
      failures?: components['schemas']["Failures"] | null;
    };
    Storage: {
      countedAt: string | null;
      totals: components['schemas']["StoreTotals"] | null;
      owners: components['schemas']["OwnerStorage"][];
    };
    StoreTotals: {
      blobs: number;
      bytes: number;
      looseBlobs: number;
      looseBytes: number;
      waste: number;
      wasteBytes: number;
    };
    StoredKind: {
      kind: string;
      files: number;
      bytes: number;
    };
    SuggestedThing: {
      kind: string;
      id: string;
      title: string;
      detail: string | null;
    };
    SuggestionList: {
      suggestions: components['schemas']["SuggestedThing"][];
    };
    TagList: {
      tags: components['schemas']["TagUse"][];
    };
    TagUse: {
      tag: string;
      bookmarks: number;
    };
    TaskJob: {
      jobId: string;
    };
    TextPart: {
      text: string;
      found: boolean;
    };
    Tick: {
      time: string;
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
    TranscriptMatch: {
      n: number;
      start: number;
      end: number;
      text: string;
    };
    TranscriptMatches: {
      matches: components['schemas']["TranscriptMatch"][];
    };
    TranscriptSegment: {
      start: number;
      end: number;
      text: string;
      words: components['schemas']["TranscriptWord"][];
    };
    TranscriptWord: {
      start: number;
      end: number;
      text: string;
    };
    UnreadableRow: {
      line: number;
      reason: string;
    };
    Version: {
      at: string;
      title: string | null;
      words: number | null;
      difference: string | null;
    };
    VersionDifference: {
      before: components['schemas']["ArticleVersion"];
      after: components['schemas']["ArticleVersion"];
      difference: string;
      isCut: boolean;
    };
    VersionPage: {
      changes: components['schemas']["Version"][];
      next: string | null;
    };
    WantedScan: {
      source?: string | null;
    };
    WholeArticle: {
      id: string;
      slug: string;
      title: string;
      excerpt: string;
      words: number;
      version: number;
      skipEmbedding: boolean;
      embedding: "fresh" | "stale" | "waiting" | "failed" | "off";
      embeddingProblem: string | null;
      embeddedVersion: number | null;
      embeddedAt: string | null;
      jobId: string | null;
      createdAt: string;
      updatedAt: string;
      content: string;
      message: string | null;
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
      deletedAt?: string | null;
      createdAt: string;
      updatedAt: string;
      crawledAt: string | null;
      changedAt: string | null;
      crawlEveryHours: number | null;
      nextCrawlAt: string | null;
      jobId: string | null;
      status: "PENDING" | "PROCESSING" | "DONE" | "ERROR" | "NOT_FOUND" | "SKIPPED";
      error: unknown;
      steps?: components['schemas']["BookmarkStep"][] | null;
      author: string | null;
      canonicalUrl: string | null;
      modifiedAt: string | null;
      text: string | null;
      blocks: components['schemas']["ReaderBlock"][] | null;
      ocr: string | null;
      facts: unknown;
      notes: unknown;
    };
    WholeVersion: {
      version: number;
      title: string;
      message: string | null;
      createdAt: string;
      characters: number;
      content: string;
    };
    Why: {
      at: string;
      status: string | null;
      reasons: components['schemas']["WhyReason"][];
    };
    WhyJob: {
      jobId: string;
      at: string;
      reason: components['schemas']["WhyReason"];
    };
    WhyJobs: {
      at: string;
      jobs: components['schemas']["WhyJob"][];
    };
    WhyReason: {
      code: "running" | "settling" | "batch_lingers" | "claimed" | "worker_lost" | "cancelling" | "job_paused" | "item_held" | "queue_paused" | "parked" | "version_unserved" | "no_worker" | "waits_for_signal" | "retry" | "throttled" | "limit_reached" | "snoozed" | "later" | "due" | "owner_limit" | "slots_full" | "rate_limited" | "machine_busy" | "outranked" | "behind" | "workers_full" | "stuck" | "unknown" | "blocked_by_step" | "blocked_by_items" | "filling";
      step: string | null;
      since: string | null;
      until: string | null;
      facts: components['schemas']["Facts"];
      actions: ("resume_job" | "start_item" | "resume_item" | "cancel_item" | "cancel_job" | "resume_queue" | "send_signal" | "kickoff")[];
    };
    WorkerCounts: {
      alive: number;
      stuck: number;
      total: number;
    };
    WorkerHosts: {
      worker: string;
      known: number;
      busy: number;
      closed: number;
      running: number;
      waiting: number;
      throttled: number;
      longestClosedS: number;
      longestDelayS: number;
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
      steps: Record<string, components['schemas']["StepStatus"]>;
      machine: components['schemas']["Machine"];
    };
    WorkerSummary: {
      name: string;
      isRunning: boolean;
      stuck: boolean;
      inFlight: number;
      settled: number;
      staleReports: number;
      upSince: string;
      lastSeen: string;
      claimShare: number | null;
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
  requestId?: string;
  errors?: {
    field: string;
    reason: string;
  }[];
};
