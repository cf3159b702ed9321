"""How much of everything: the full run, and the quick one that ends within ten minutes on two cores."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    mode: str
    patience: float
    repeats: int
    drain_items: int
    drain_singles: int
    bulk_items: int
    single_submits: int
    latency_samples: int
    latency_interval: float
    small_backlog: int
    large_backlog: int
    large_repeats: int
    parked: int
    drained_beside: int
    snapshot_seconds: float
    snapshot_repeats: int
    snapshot_dead_jobs: int
    other_owner_interval: float
    other_pipeline_backlog: int
    long_seconds: float
    short_samples: int
    key_backlog: int
    key_samples: int
    paused_owners: int
    stall_seconds: float
    api_submits: int
    api_backlog: int
    bookmarks: int
    media_downloads: int
    approvals: int
    articles: int
    articles_behind: int
    sheet_rows: int
    workbook_rows: int
    provider_seconds: float
    grid_rows: int
    grid_gestures: int
    grid_jumps: int
    painted_events: int
    tab_seconds: float
    idle_seconds: float
    host_submits: int
    host_tasks: int
    host_repeats: int
    host_held_rate: int
    model_seconds: float
    search_vectors: int
    search_texts: int
    search_questions: int


FULL = Sizes(
    mode="full",
    patience=300.0,
    repeats=4,
    drain_items=200_000,
    drain_singles=200_000,
    bulk_items=100_000,
    single_submits=3_000,
    latency_samples=500,
    latency_interval=0.02,
    small_backlog=10_000,
    large_backlog=1_000_000,
    large_repeats=3,
    parked=1_000_000,
    drained_beside=300_000,
    snapshot_seconds=60.0,
    snapshot_repeats=1,
    snapshot_dead_jobs=6_000_000,
    other_owner_interval=0.05,
    other_pipeline_backlog=200_000,
    long_seconds=5.0,
    short_samples=100,
    key_backlog=100_000,
    key_samples=40,
    paused_owners=10_000,
    stall_seconds=30.0,
    api_submits=6_000,
    api_backlog=600_000,
    bookmarks=400,
    media_downloads=100,
    approvals=1000,
    articles=400,
    articles_behind=18_000,
    sheet_rows=100_000,
    workbook_rows=100_000,
    provider_seconds=30.0,
    grid_rows=1_000_000,
    grid_gestures=20,
    grid_jumps=500,
    painted_events=40,
    tab_seconds=15.0,
    idle_seconds=30.0,
    host_submits=200,
    host_tasks=6_000,
    host_repeats=3,
    host_held_rate=60_000,
    model_seconds=30.0,
    search_vectors=100_000,
    search_texts=5_000,
    search_questions=200,
)

QUICK = Sizes(
    mode="quick",
    patience=60.0,
    repeats=3,
    drain_items=100_000,
    drain_singles=30_000,
    bulk_items=50_000,
    single_submits=1_500,
    latency_samples=250,
    latency_interval=0.02,
    small_backlog=10_000,
    large_backlog=400_000,
    large_repeats=1,
    parked=250_000,
    drained_beside=150_000,
    snapshot_seconds=10.0,
    snapshot_repeats=1,
    snapshot_dead_jobs=1_000_000,
    other_owner_interval=0.05,
    other_pipeline_backlog=30_000,
    long_seconds=5.0,
    short_samples=40,
    key_backlog=100_000,
    key_samples=15,
    paused_owners=10_000,
    stall_seconds=10.0,
    api_submits=3_000,
    api_backlog=250_000,
    bookmarks=150,
    media_downloads=100,
    approvals=60,
    articles=150,
    articles_behind=2_500,
    sheet_rows=100_000,
    workbook_rows=20_000,
    provider_seconds=12.0,
    grid_rows=200_000,
    grid_gestures=10,
    grid_jumps=200,
    painted_events=20,
    tab_seconds=8.0,
    idle_seconds=15.0,
    host_submits=60,
    host_tasks=2_400,
    host_repeats=1,
    host_held_rate=60_000,
    model_seconds=12.0,
    search_vectors=10_000,
    search_texts=1_500,
    search_questions=100,
)
