"""The bars: each figure is a ratio of two measurements of the same run."""

from dataclasses import dataclass
from typing import Literal

Direction = Literal[">=", "<="]


@dataclass(frozen=True)
class Bar:
    name: str
    what: str
    against: str
    unit: str
    bar: float
    aim: float | None = None
    direction: Direction = ">="

    def holds(self, ratio: float) -> bool:
        return ratio >= self.bar if self.direction == ">=" else ratio <= self.bar


_ONE = "drain, one worker process"
_TWO = "drain, two worker processes"
_SINGLES = "drain of one-item jobs, one worker process"
_SINGLES_TWO = "drain of one-item jobs, two worker processes"
_SINGLES_OWNERS = "drain of one-item jobs of 1,000 owners, one worker process"
_SINGLES_HELD = "drain of one-item jobs under a snapshot held for ten minutes"
_START = "submit → step starts, idle queue"
_SINGLE = "single submit in the caller's transaction"
_PARKED = "drain, paused and future tasks beside it"
_OTHER = "another owner's task during a large drain, time to start"
_OTHER_PIPELINE = "the same owner's other pipeline during a drain of one-item jobs, time to start"
_SHORT = "another owner's task of 0.05 s while long tasks hold all four slots, time to start"
_STALL = "longest stall of a worker's event loop, one task each of many owners behind a paused queue"
_KEY = "one task behind another owner's rows under one keyed limit of 5/s, time to start"
_MEMORY = "worker memory"
_ADDING = "adding a bookmark while 100 others are worked on"
_SAVING = "saving an article while many others are embedded"
_ANNOUNCING = "webhook of an approval while the files of others are downloaded"
_GRID_FRAME = "frame while scrolling a grid of many rows, p95"
_TABS = "submit by the API while 50 people have a tab open"

BARS = (
    Bar("drain_1_vs_limit", _ONE, "bare asyncpg claim 500 / done 500", "tasks/s", 0.7, 1.0),
    Bar("drain_1_vs_pgqueuer", _ONE, "PgQueuer, one process", "tasks/s", 3.0),
    Bar("drain_1_vs_graphile", _ONE, "graphile-worker, one process", "tasks/s", 1.0),
    Bar("drain_2_vs_graphile", _TWO, "graphile-worker, two processes", "tasks/s", 1.1, 1.3),
    Bar("drain_singles_vs_bulk", _SINGLES, "the same as items of one job", "tasks/s", 0.25, 0.5),
    Bar("drain_singles_vs_pgqueuer", _SINGLES, "PgQueuer, one process", "tasks/s", 1.0),
    Bar("drain_singles_vs_graphile", _SINGLES, "graphile-worker, one process", "tasks/s", 1.0, 1.3),
    Bar("drain_owners_vs_graphile", _SINGLES_OWNERS, "graphile-worker, one process", "tasks/s", 1.0, 1.3),
    Bar("drain_singles_2_vs_graphile", _SINGLES_TWO, "graphile-worker, two processes", "tasks/s", 1.1, 1.3),
    Bar("bulk_submit", "bulk submit", "plain COPY of the same rows", "items/s", 0.5, 0.7),
    Bar("single_submit", _SINGLE, "BEGIN, raw INSERT, COMMIT", "submits/s", 0.5, 0.7),
    Bar("single_submit_autocommit", _SINGLE, "raw INSERT that commits itself", "submits/s", 0.7, 0.8),
    Bar("start_p50", f"{_START}, p50", "raw INSERT + NOTIFY round trip, p50", "ms", 2.0, 1.5, "<="),
    Bar("start_p99", f"{_START}, p99", "raw INSERT + NOTIFY round trip, p99", "ms", 5.0, None, "<="),
    Bar("backlog_large", "drain, large backlog", "drain, small backlog", "tasks/s", 0.95, 1.0),
    Bar("backlog_parked", _PARKED, "the same, nothing beside it", "tasks/s", 0.9, 1.0),
    Bar("held_snapshot", "drain under a held snapshot", "the same, none held", "tasks/s", 0.9, 1.0),
    Bar("held_snapshot_singles", _SINGLES_HELD, "the same, none held", "tasks/s", 0.9, 1.0),
    Bar("other_owner_p95", f"{_OTHER}, p95", "idle queue, p50", "ms", 10.0, 5.0, "<="),
    Bar("other_pipeline_p95", f"{_OTHER_PIPELINE}, p95", "idle queue, p50", "ms", 10.0, 5.0, "<="),
    Bar("short_beside_long", f"{_SHORT}, p95", "the time of a long task", "s", 0.05, 0.01, "<="),
    Bar("behind_a_key", f"{_KEY}, p95", "the interval of the limit", "s", 3.0, 2.0, "<="),
    Bar("paused_owners_stall", _STALL, "the same with nothing submitted", "ms", 5.0, 1.0, "<="),
    Bar("api_throughput", "submit by the API", "FastAPI route with a raw INSERT", "submits/s", 0.65, 0.8),
    Bar("api_submit_p99", "submit by the API during a drain, p99", "raw INSERT then, p99", "ms", 15.0, None, "<="),
    Bar("bookmark_add_p99", f"{_ADDING}, p99", "raw INSERT then, p99", "ms", 15.0, None, "<="),
    Bar("article_create_p99", f"{_SAVING}, p99", "raw INSERT then, p99", "ms", 15.0, None, "<="),
    Bar(
        "article_embedding", "articles embedded while others are saved", "the same, none saved", "articles/s", 0.5, 0.8
    ),
    Bar("attachment_webhook_p99", f"{_ANNOUNCING}, p99", "raw INSERT then, p99", "ms", 15.0, None, "<="),
    Bar("sheet_ingest", "a file of rows into items", "COPY FROM of the documents that its rows become", "rows/s", 0.3),
    Bar("sheet_export_csv", "export of a sheet, CSV", "COPY TO of the same cells as plain text", "rows/s", 0.4),
    Bar("workbook", "workbook of the same rows", "openpyxl, write-only", "rows/s", 3.0),
    Bar("provider_sought", "look-ups at a provider, concurrency sought", "the best fixed one", "rows/s", 0.8),
    Bar("provider_slow", "the same while it is slow", "what its hands could answer", "rows/s", 0.8),
    Bar("provider_well_again", "the same, well again after a bad day", "the same before", "rows/s", 0.8),
    Bar("grid_frame_p95", _GRID_FRAME, "the same page with 200 static rows", "ms", 1.25, 1.0, "<="),
    Bar("grid_longest_frame", "longest frame of that, processor time", "the most allowed", "ms", 1.0, 0.5, "<="),
    Bar(
        "grid_missing_rows", "rows not loaded yet while scrolling the grid", "the most allowed", "share", 1.0, 0.2, "<="
    ),
    Bar("grid_heap", "growth of the heap by jumps all over the grid", "the most allowed", "MB", 1.0, 0.2, "<="),
    Bar("event_painted_p95", "event in a tab → painted, p95", "the most allowed", "ms", 1.0, 0.5, "<="),
    Bar("list_renders", "renders of a list in a second while events arrive", "the most allowed", "", 1.0, 0.5, "<="),
    Bar(
        "interaction_p95", "key to next frame in the app, 4 x slower CPU, p95", "the most allowed", "ms", 1.0, 0.5, "<="
    ),
    Bar("event_burst", "longest task of a tab in a burst of 10,000 events", "the most allowed", "ms", 1.0, 0.5, "<="),
    Bar("submit_beside_tabs", f"{_TABS}, p99", "the same without a tab", "ms", 1.5, 1.0, "<="),
    Bar(
        "speech",
        "speech transcribed by the local model",
        "faster-whisper called bare on the same file",
        "seconds of speech/s",
        0.9,
        1.0,
    ),
    Bar("media_memory", "memory of a worker with a hundred downloads, peak", "the most allowed", "MB", 1.0, None, "<="),
    Bar("media_api_p99", "list of shares during a hundred downloads, p99", "the same while idle", "ms", 2.0, 1.0, "<="),
    Bar("media_throughput", "a hundred downloads of 20 MB", "aria2c", "MB/s", 0.8, None, ">="),
    Bar("memory_idle", f"{_MEMORY}, idle", "the most allowed", "MB", 1.0, None, "<="),
    Bar("idle_statements", "statements of an idle worker", "the most allowed", "statements/s", 1.0, 0.34, "<="),
    Bar(
        "memory_draining",
        f"{_MEMORY}, draining the large backlog, peak",
        "the most allowed",
        "MB",
        1.0,
        None,
        "<=",
    ),
    Bar("hosts_claims", "claims a submit, 64 idle workers", "one", "claims", 3.0, 1.5, "<="),
    Bar("hosts_start_p95", f"{_START}, p95, 64 idle workers", "the same with one worker", "ms", 6.0, 3.0, "<="),
    Bar("hosts_statements", "statements of 64 idle workers", "of one", "statements/s", 12.0, 6.0, "<="),
    Bar("hosts_connections", "connections of a worker, 64 workers", "of one worker alone", "", 1.0, None, "<="),
    Bar(
        "hosts_small_runners", "server CPU a task, 32 one-slot runners", "one worker of 32 slots", "µs", 2.5, 1.5, "<="
    ),
    Bar("hosts_first_starts", "first starts of 4 equal owners on 64 new workers", "the fair share", "", 1.6, 1.3, "<="),
    Bar("hosts_leased", "tasks leased by a busy one-slot worker, 4 owners", "its slots", "", 1.0, None, "<="),
    Bar("hosts_held_snapshot", "drain by 16 workers, snapshot held", "the same, none held", "tasks/s", 0.9, 1.0),
    Bar("hosts_model", "error of the model at 16 workers", "what was measured", "", 0.25, 0.1, "<="),
    Bar("search_recall", "HNSW, recall@10", "exact search", "share", 0.95, 0.98),
    Bar("search_speed", "HNSW, ten nearest", "exact search", "searches/s", 20.0, 50.0),
    Bar("search_owner_recall", "recall@10 of an owner with 1 % of the vectors", "exact search", "share", 0.95, 1.0),
    Bar("search_pipeline", "texts embedded by the pipeline", "the bare model in a loop", "texts/s", 0.9, 1.0),
    Bar("search_memory", f"{_MEMORY}, embedding, peak", "the most allowed", "MB", 1.0, 0.75, "<="),
    Bar("search_hybrid_words", "hybrid search, nDCG@10", "words alone", "", 1.0, 1.1),
    Bar("search_hybrid_meaning", "hybrid search, nDCG@10", "meaning alone", "", 1.0, 1.1),
    Bar("search_busy_p95", "search while edits are embedded, p95", "the same, idle", "ms", 2.0, 1.5, "<="),
    Bar("memory_flat", f"{_MEMORY}, last quarter of that drain", "second quarter", "MB", 1.1, 1.0, "<="),
)

BY_NAME = {bar.name: bar for bar in BARS}
