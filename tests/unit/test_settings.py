"""Settings: alternative names, settings of packages, and values that several modules share."""

# demands: S5-124, S5-127, S5-128, S5-129, X-09

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Annotated, Self

import pytest
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from forebay.base_settings import PackageSettings
from forebay.errors import ConfigError, classify_error
from forebay.packages import settings_classes
from forebay.pipelines.articles.settings import ArticlesSettings
from forebay.pipelines.attachments.settings import AttachmentsSettings
from forebay.pipelines.media.settings import MediaSettings
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.setting_formats import days_by_name
from forebay.settings import Settings
from forebay.types import ErrorClass


def test_other_names_set_the_same_settings_in_their_own_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREBAY_WORKER_TARGET_SLICE_MS", "250")
    monkeypatch.setenv("FOREBAY_SAFETY_FACTOR", "0.5")
    monkeypatch.setenv("FOREBAY_LOCK_FLOOR_MS", "20000")
    monkeypatch.setenv("forebay_lock_cap_ms", "90000")
    found = Settings()
    assert (found.slice_ms, found.claim_safety) == (250.0, 0.5)
    assert (found.lease_floor_s, found.lease_cap_s) == (20.0, 90.0)


def test_every_variable_of_sheets_from_before_works_on(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {"INGEST_MIN_ROWS": "2", "INGEST_MAX_ROWS": "3", "INGEST_MAX_BATCH_BYTES": "4096", "DB_P50_MS": "5"}
    before |= {"DB_P95_MS": "6", "MAX_ATTEMPTS_ERROR": "7", "MAX_ATTEMPTS_NOT_FOUND": "8", "SHEETS_ENABLED": "0"}
    for name, value in before.items():
        monkeypatch.setenv(f"FOREBAY_{name}", value)
    found = Settings().of(SheetsSettings)
    assert (found.ingest_min_rows, found.ingest_max_rows, found.ingest_max_batch_bytes) == (2, 3, 4096)
    assert (found.db_p50_ms, found.db_p95_ms) == (5.0, 6.0)
    assert (found.max_attempts_error, found.max_attempts_not_found, found.enabled) == (7, 8, False)


def test_media_and_attachments_know_the_names_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {"DOWNLOAD_WORKERS": "7", "ASYNC_DOWNLOADS_ENABLED": "false"}
    before |= {"ATTACHMENT_DOWNLOAD_MAX_RETRIES": "5", "ATTACHMENT_DOWNLOAD_TIMEOUT": "40"}
    for name, value in before.items():
        monkeypatch.setenv(f"FOREBAY_{name}", value)
    media, attachments = Settings().of(MediaSettings), Settings().of(AttachmentsSettings)
    assert (media.downloads, media.async_downloads) == (7, False)
    assert (attachments.max_retries, attachments.timeout_s) == (5, 40.0)


def test_media_attachments_and_articles_have_the_defaults_of_their_documents() -> None:
    settings = Settings()
    media, attachments = settings.of(MediaSettings), settings.of(AttachmentsSettings)
    assert (media.downloads, media.async_downloads, media.attempts) == (3, True, 3)
    assert (attachments.max_retries, attachments.timeout_s) == (3, 30.0)
    articles = settings.of(ArticlesSettings)
    assert (articles.enabled, articles.max_retries, articles.retry_backoff_base) == (True, 3, 1000)
    assert (articles.cleanup_interval, articles.cleanup_retention_days) == (24, 30)


def test_the_proper_name_counts_where_both_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREBAY_LOCK_FLOOR_MS", "20000")
    monkeypatch.setenv("FOREBAY_LEASE_FLOOR_S", "30")
    assert Settings().lease_floor_s == 30.0


def test_other_names_in_a_file_count_less_than_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".env").write_text("FOREBAY_LOCK_FLOOR_MS=20000\nFOREBAY_LOCK_CAP_MS=90000\n")
    monkeypatch.setenv("FOREBAY_LEASE_CAP_S", "40")
    assert (Settings().lease_floor_s, Settings().lease_cap_s) == (20.0, 40.0)
    assert Settings.origins() == {"lease_floor_s": ".env", "lease_cap_s": "environment"}


def test_a_wrong_value_is_refused_by_the_settings_own_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREBAY_LOCK_CAP_MS", "soon")
    with pytest.raises(ValidationError, match="lease_cap_s"):
        Settings()


@pytest.mark.parametrize("kind", [Settings, *settings_classes().values()])
def test_other_names_lead_to_settings_that_there_are(kind: type[Settings]) -> None:
    assert {other.field for other in kind.other_names.values()} <= set(kind.model_fields)


def test_the_settings_of_a_package_are_read_once_and_can_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREBAY_SHEETS_MATCH_SCORE", "0.5")
    settings = Settings()
    assert settings.of(SheetsSettings).match_score == 0.5
    monkeypatch.setenv("FOREBAY_SHEETS_MATCH_SCORE", "0.6")
    assert settings.model_copy(update={"owner": "ann"}).of(SheetsSettings).match_score == 0.5
    given = settings.including(SheetsSettings(match_score=0.9))
    assert (given.of(SheetsSettings).match_score, settings.of(SheetsSettings).match_score) == (0.9, 0.5)


class NotesSettings(PackageSettings):
    model_config = SettingsConfigDict(env_prefix="FOREBAY_NOTES_")

    key: Annotated[SecretStr, Field(min_length=16)] | None = None
    most: int = 1
    folder: str = "/srv"

    @field_validator("folder")
    @classmethod
    def _folder(cls, text: str) -> str:
        if not text.startswith("/"):
            raise ValueError(f"{text!r} is no whole path")
        return text

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.most > 9:
            raise ValueError(f"{self.most} does not fit")
        return self


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("FOREBAY_NOTES_MOST", "hunter2", "the setting FOREBAY_NOTES_MOST is invalid: it must be a whole number."),
        (
            "FOREBAY_NOTES_KEY",
            "hunter2",
            "the setting FOREBAY_NOTES_KEY is invalid: it must have at least 16 characters.",
        ),
        ("FOREBAY_NOTES_FOLDER", "hunter2", "the setting FOREBAY_NOTES_FOLDER is invalid."),
        ("FOREBAY_NOTES_MOST", "1700451", "the setting FOREBAY_NOTES_… is invalid."),
    ],
)
def test_a_wrong_setting_of_a_package_parks_the_step_that_reads_it(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, words: str
) -> None:
    """It is no fault of the item, and what is wrong is said without the value."""
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError) as raised:
        Settings().of(NotesSettings)
    assert str(raised.value) == f"{words} `forebay config` checks all settings"
    assert classify_error(raised.value) is ErrorClass.CONFIG
    assert value not in "".join(traceback.format_exception(raised.value))


def test_days_of_single_pipelines() -> None:
    assert days_by_name(" bookmarks = 1, sheets=90,") == {"bookmarks": 1, "sheets": 90}
    for wrong in ("bookmarks", "=3", "sheets=0", "sheets=soon"):
        with pytest.raises(ValidationError, match="is not the name of a pipeline and a number of days, as texts=1"):
            Settings(keep_jobs_days_of=wrong)
