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
        default=1, description="fewest rows of a file that are committed at once"
    )
    ingest_max_rows: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=8192, description="most rows of a file that are committed at once; it begins with 64, and doubles"
    )
    ingest_max_batch_bytes: Annotated[int, Field(ge=1024, le=256 << 20)] = Field(
        default=4 << 20, description="most bytes of rows that are committed at once"
    )
    db_p50_ms: Annotated[float, Field(gt=0)] = Field(
        default=125.0, description="batches of rows grow while committing one takes no longer, on average"
    )
    db_p95_ms: Annotated[float, Field(gt=0)] = Field(
        default=250.0, description="batches of rows shrink when committing one takes longer, on average"
    )
    max_read_bytes: Annotated[int, Field(ge=1 << 20, le=1 << 44)] = Field(
        default=16 << 30,
        description="most bytes that the rows of one file may take once read; a file may take 200 times its own size, "
        "or 16 MiB if that is more, but never more than this",
    )
    read_s: Seconds = Field(
        default=60.0,
        description="seconds that reading a file may take, whatever its size",
    )
    read_s_per_mb: Seconds = Field(
        default=20.0, description="seconds more that reading a file may take for each megabyte that it has"
    )
    max_attempts_error: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=3, description="attempts to look a row up that may fail before it is in error"
    )
    max_attempts_not_found: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=2, description="attempts to look a row up, each in other ways, before it is NOT_FOUND"
    )
    not_found_wait_s: Seconds = Field(
        default=30.0, description="longest pause before a row that was not found is looked up in the next ways"
    )
    providers: Path | None = Field(
        default=None, description="folder with declarations of providers that rows are looked up at; unset: none"
    )
    match_score: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.7, description="what a provider has found is a match from this score on, of 0 to 1"
    )
