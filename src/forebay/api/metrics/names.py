"""The metrics of the service: name, meaning, and the requirements that they meet. Packages declare their own."""

from __future__ import annotations

from forebay.api.metrics.metric import Metric

_STEP = ("pipeline", "step")
_WORKER = ("worker",)
_WORKER_STEP = ("worker", "pipeline", "step")


DATABASE_UP = Metric(
    "forebay_database_up", "gauge", (), "1 when the database is reachable; else only API process metrics exist",
    "S4-118",
)  # fmt: skip

# Work, from the database.
QUEUE_DEPTH = Metric(
    "forebay_queue_depth", "gauge", (*_STEP, "status"), "tasks by status: pending, scheduled, processing, on_hold",
    "S1-100 S1-101 S1-104 S2-100 S4-116 S5-100",
)  # fmt: skip
PENDING = Metric(
    "forebay_pending_tasks", "gauge", (), "tasks that are waiting or running: pending_count", "S3-73 S5-105",
)  # fmt: skip
QUEUE_PAUSED = Metric("forebay_queue_paused", "gauge", _STEP, "1 while the step's queue is paused")
QUEUE_PARKED = Metric(
    "forebay_queue_parked", "gauge", _STEP, "1 while the step's queue is parked because a service or a key is missing",
    "S4-119",
)  # fmt: skip
QUEUE_DEMAND = Metric(
    "forebay_queue_demand_slots", "gauge", ("queue",),
    "slots that run what is running and end what is waiting within a minute: see GET /api/queues/NAME/demand",
    "S1-118",
)  # fmt: skip
UNSERVED_JOBS = Metric(
    "forebay_unserved_jobs", "gauge", ("pipeline",),
    "open jobs whose version of the pipeline has a step that no living worker runs",
)  # fmt: skip
OPEN_JOBS = Metric(
    "forebay_open_jobs", "gauge", ("pipeline", "state"), "unfinished jobs by state", "S1-97",
)  # fmt: skip
OPEN_JOB_ITEMS = Metric(
    "forebay_open_job_items", "gauge", ("pipeline", "status"),
    "items of unfinished jobs: pending, done, skipped, not_found, error", "S1-97",
)  # fmt: skip
ITEMS = Metric(
    "forebay_items", "gauge", ("pipeline", "status"),
    "exact number of items of all stored jobs: pending, processing, done, skipped, not_found, error", "S1-101 S4-72",
)  # fmt: skip
DEAD_LETTERS = Metric(
    "forebay_dead_letters", "gauge", _STEP, "dead letters: tasks that failed permanently; counted up to 100000",
)  # fmt: skip
DEAD_LETTERS_LAST_HOUR = Metric(
    "forebay_dead_letters_last_hour", "gauge", _STEP, "dead letters of the last hour",
)  # fmt: skip

# Attempts, from the database.
ATTEMPTS = Metric(
    "forebay_attempts_total", "counter", (*_STEP, "outcome"),
    "attempts that ended since this API process began, by outcome; LIMITED: delayed by a configured limit",
    "S1-66 S1-105 S3-99 S4-114 S4-115",
)  # fmt: skip
STEP_DURATION = Metric(
    "forebay_step_duration_seconds", "histogram", _STEP, "duration of attempts that ended DONE",
    "S1-66 S1-106 S3-99",
)  # fmt: skip
TASKS_PER_MINUTE = Metric(
    "forebay_tasks_per_minute", "gauge", _STEP, "attempts that ended with any outcome; mean of five minutes",
    "S1-105 S4-114",
)  # fmt: skip
ITEMS_PER_SECOND = Metric(
    "forebay_items_per_second", "gauge", _STEP,
    "items that passed the step (DONE, SKIPPED or NOT_FOUND): items_sec; mean of five minutes", "S5-95",
)  # fmt: skip
AVERAGE = Metric(
    "forebay_step_duration_average_seconds", "gauge", _STEP, "mean duration of attempts DONE in the last hour",
    "S1-102 S1-106 S4-43",
)  # fmt: skip
P95 = Metric(
    "forebay_step_duration_p95_seconds", "gauge", _STEP, "95th percentile of the same, estimated from the histogram",
    "S3-99",
)  # fmt: skip
FAILURE_RATIO = Metric(
    "forebay_failure_ratio", "gauge", _STEP,
    "share of ERROR and EXPIRED among the attempts that ended in the last hour: failure rate, error_rate",
    "S1-103 S1-107 S4-115 S5-96",
)  # fmt: skip
NOT_FOUND_RATIO = Metric(
    "forebay_not_found_ratio", "gauge", _STEP, "share of NOT_FOUND among the same: not_found_rate", "S5-97",
)  # fmt: skip
THROTTLE_RATIO = Metric(
    "forebay_throttle_ratio", "gauge", _STEP,
    "share of throttled attempts among those of the last hour that reached the remote service: api_throttle_rate",
    "S5-101",
)  # fmt: skip

# Workers, from their last reports.
WORKER_UP = Metric(
    "forebay_worker_up", "gauge", _WORKER, "1 while the worker sends heartbeats; 0 when it stopped without signing off",
    "S3-71 S4-39 S4-117",
)  # fmt: skip
WORKER_HEALTHY = Metric(
    "forebay_worker_healthy", "gauge", _WORKER, "1 while it is up and not stuck", "S3-77 S4-117",
)  # fmt: skip
WORKER_STUCK = Metric(
    "forebay_worker_stuck", "gauge", _WORKER, "1 when nothing has ended for 5 minutes while work is pending",
    "S3-70 S3-91",
)  # fmt: skip
WORKER_UPTIME = Metric("forebay_worker_uptime_seconds", "gauge", _WORKER, "seconds since it started", "S3-76")
WORKER_LAST_PROCESSED = Metric(
    "forebay_worker_last_processed_timestamp_seconds", "gauge", _WORKER, "time when its last attempt ended",
    "S3-68 S3-72 S4-44",
)  # fmt: skip
WORKER_LAST_ERROR = Metric(
    "forebay_worker_last_error", "gauge", _WORKER, "1 when an attempt failed since it started; see /api/workers",
    "S3-78",
)  # fmt: skip
WORKER_IN_FLIGHT = Metric("forebay_worker_in_flight", "gauge", _WORKER, "tasks that it holds")
WORKER_CONCURRENCY = Metric(
    "forebay_worker_concurrency_limit", "gauge", _WORKER_STEP, "tasks that it may run at the same time, auto-tuned",
)  # fmt: skip
WORKER_CLAIM_SIZE = Metric(
    "forebay_worker_claim_size", "gauge", _WORKER_STEP, "tasks that it claims in one batch, auto-tuned",
)  # fmt: skip
WORKER_LANE_WAIT = Metric(
    "forebay_worker_lane_wait_seconds", "gauge", _WORKER_STEP,
    "for how long an owner's lane with ready tasks has not been claimed from; the longest: it starves while this grows",
)  # fmt: skip
WORKER_PROCESSED = Metric(
    "forebay_worker_processed_total", "counter", _WORKER_STEP, "attempts that succeeded or failed",
    "S3-74 S4-40",
)  # fmt: skip
WORKER_SUCCEEDED = Metric(
    "forebay_worker_succeeded_total", "counter", _WORKER_STEP, "attempts that ended DONE, SKIPPED or NOT_FOUND",
    "S4-41",
)  # fmt: skip
WORKER_FAILED = Metric(
    "forebay_worker_failed_total", "counter", _WORKER_STEP, "attempts that ended in ERROR", "S3-75 S4-42",
)  # fmt: skip
WORKER_BUSY = Metric(
    "forebay_worker_busy_seconds_total", "counter", _WORKER_STEP,
    "time in attempts that ended DONE, SKIPPED or NOT_FOUND; divide by their number for the average", "S4-43",
)  # fmt: skip
WORKER_POOL_WAIT = Metric(
    "forebay_worker_pool_wait_seconds", "histogram", _WORKER, "wait for a connection of its pool: pool_wait_ms",
    "S5-99",
)  # fmt: skip
WORKER_STALE = Metric(
    "forebay_worker_stale_reports_total", "counter", _WORKER, "reports for tasks whose lease it had lost",
)  # fmt: skip

# Fleets, from the dispatchers' last reports.
FLEET_BROKER_UP = Metric(
    "forebay_fleet_broker_up", "gauge", _WORKER,
    "1 while the dispatcher hears its own messages through the broker", "S1-118",
)  # fmt: skip
FLEET_RUNNERS = Metric(
    "forebay_fleet_runners", "gauge", _WORKER, "runners that the dispatcher hears: each dispatcher hears all of them",
)  # fmt: skip
FLEET_SLOTS = Metric(
    "forebay_fleet_slots", "gauge", _WORKER_STEP,
    "slots of the runners that the dispatcher may fill: its share; the sum of all dispatchers is what the runners have",
)  # fmt: skip
FLEET_OFFERS = Metric(
    "forebay_fleet_offers", "gauge", (*_WORKER_STEP, "state"),
    "tasks that are offered to runners: offered and not taken, and taken by a runner",
)  # fmt: skip
FLEET_LOST = Metric(
    "forebay_fleet_lost_offers_total", "counter", _WORKER,
    "offers whose runner was not heard any more: their tasks run again when their leases end",
)  # fmt: skip

# The egress proxy and the browser, from the workers' last reports.
EGRESS_REQUESTS = Metric(
    "forebay_egress_requests_total", "counter", _WORKER, "requests and tunnels through the egress proxy",
)  # fmt: skip
EGRESS_REFUSED = Metric(
    "forebay_egress_refused_total", "counter", (*_WORKER, "reason"), "requests that the proxy refused or cut off",
)  # fmt: skip
EGRESS_FAILED = Metric(
    "forebay_egress_failed_total", "counter", (*_WORKER, "reason"), "permitted requests that failed or were lost",
)  # fmt: skip
EGRESS_BYTES = Metric(
    "forebay_egress_bytes_total", "counter", (*_WORKER, "direction"), "bytes through the egress proxy: in, out",
)  # fmt: skip
EGRESS_CONNECTIONS = Metric("forebay_egress_connections", "gauge", _WORKER, "open connections to the egress proxy")
HOSTS = Metric(
    "forebay_hosts", "gauge", (*_WORKER, "state"),
    "hosts: known, with running requests (busy), and paused because they rate limit us (closed)",
)  # fmt: skip
HOST_REQUESTS = Metric(
    "forebay_host_requests", "gauge", (*_WORKER, "state"), "requests to hosts: running and waiting",
)  # fmt: skip
HOST_WORST = Metric(
    "forebay_host_worst_seconds", "gauge", (*_WORKER, "what"),
    "longest of all hosts: time until requests continue (closed), and pause between requests (delay)",
)  # fmt: skip
HOST_WORST_WAITING = Metric(
    "forebay_host_worst_waiting", "gauge", _WORKER, "requests that wait for the host with the longest queue",
)  # fmt: skip
HOST_THROTTLED = Metric(
    "forebay_host_throttled_total", "counter", _WORKER, "responses with which hosts rate limited us: 429 or 503",
)  # fmt: skip
CAPTURES = Metric("forebay_captures_total", "counter", _WORKER, "page captures by the browser")
CAPTURE_FAILURES = Metric("forebay_capture_failures_total", "counter", _WORKER, "captures that failed")
CAPTURE_SECONDS = Metric(
    "forebay_capture_seconds_total", "counter", _WORKER, "time in captures; divide by their number for the average",
)  # fmt: skip
BROWSER_STARTS = Metric("forebay_browser_starts_total", "counter", _WORKER, "starts of Chromium")

# This API process.
API_REQUESTS = Metric(
    "forebay_api_requests_total", "counter", ("method", "route", "status"), "answered requests",
)  # fmt: skip
API_DURATION = Metric(
    "forebay_api_request_duration_seconds", "histogram", ("method", "route", "status"),
    "time until the response began, by route template; for the lists also slow-query timings", "S5-107",
)  # fmt: skip
INGEST = Metric(
    "forebay_ingest_duration_seconds", "histogram", ("route",),
    "time until a submit was committed and answered: ingest_ms", "S5-94",
)  # fmt: skip
DB_LATENCY = Metric(
    "forebay_db_latency_ewma_seconds", "gauge", (), "round trip to the database, moving average: db_latency_ewma",
    "S5-98",
)  # fmt: skip
PENDING_SERVED = Metric(
    "forebay_pending_items_served_total", "counter", (), "items in responses of the list of pending items", "S5-106",
)  # fmt: skip
POOL_WAIT = Metric(
    "forebay_db_pool_wait_seconds", "histogram", ("pool",), "wait for a connection of the pool: pool_wait_ms", "S5-99",
)  # fmt: skip
FORWARDED_IGNORED = Metric(
    "forebay_api_forwarded_ignored_total", "counter", (),
    "requests whose X-Forwarded-For was ignored because the sender is not in FOREBAY_TRUSTED_PROXIES",
)  # fmt: skip

GENERAL = tuple(one for one in globals().values() if isinstance(one, Metric))
