"""The settings of sheets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from forebay.base_settings import OtherName, Seconds
from forebay.intake.settings import IntakeSettings


class SheetsSettings(IntakeSettings):
    """Each field is the variable FOREBAY_SHEETS_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="FOREBAY_SHEETS_")

    other_names: ClassVar = {
        "FOREBAY_INGEST_MIN_ROWS": OtherName("ingest_min_rows"),
        "FOREBAY_INGEST_MAX_ROWS": OtherName("ingest_max_rows"),
        "FOREBAY_INGEST_MAX_BATCH_BYTES": OtherName("ingest_max_batch_bytes"),
        "FOREBAY_DB_P50_MS": OtherName("db_p50_ms"),
        "FOREBAY_DB_P95_MS": OtherName("db_p95_ms"),
        "FOREBAY_MAX_ATTEMPTS_ERROR": OtherName("max_attempts_error"),
        "FOREBAY_MAX_ATTEMPTS_NOT_FOUND": OtherName("max_attempts_not_found"),
    }

    enabled: bool = Field(default=True, description="accept files of rows; false: uploads are rejected")
    ingest_min_rows: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=1, description="minimum number of rows per commit"
    )
    ingest_max_rows: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=8192, description="maximum number of rows per commit; begins with 64 and doubles"
    )
    ingest_max_batch_bytes: Annotated[int, Field(ge=1024, le=256 << 20)] = Field(
        default=4 << 20, description="maximum number of bytes per commit"
    )
    db_p50_ms: Annotated[float, Field(gt=0)] = Field(
        default=125.0, description="batches of rows grow while a commit takes less than this, on average"
    )
    db_p95_ms: Annotated[float, Field(gt=0)] = Field(
        default=250.0, description="batches of rows shrink when a commit takes longer than this, on average"
    )
    max_read_bytes: Annotated[int, Field(ge=1 << 20, le=1 << 44)] = Field(
        default=16 << 30,
        description="maximum size in bytes of the rows of a file once read; the limit of a file is 200 times its size, "
        "at least 16 MiB, and at most this",
    )
    read_s: Seconds = Field(
        default=60.0,
        description="seconds that reading a file of any size may take",
    )
    read_s_per_mb: Seconds = Field(
        default=20.0, description="additional seconds that reading a file may take per megabyte"
    )
    max_attempts_error: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=3, description="failed attempts to look a row up before its status is ERROR"
    )
    max_attempts_not_found: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=2, description="attempts to look a row up, with different strategies, before its status is NOT_FOUND"
    )
    not_found_wait_s: Seconds = Field(
        default=30.0, description="longest pause before a row that was not found is looked up in the next ways"
    )
    max_open_exports: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=20, description="maximum number of exports of one owner that wait or are being written"
    )
    providers: Path | None = Field(
        default=None, description="folder with declarations of providers that rows are looked up at; unset: none"
    )
    match_score: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.7, description="minimum score of a match, from 0 to 1"
    )
