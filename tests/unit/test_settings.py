"""Settings: other names, and values that several parts share."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from forebay.settings import OTHER_NAMES, Settings, days_by_name


def test_other_names_set_the_same_settings_in_their_own_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREBAY_WORKER_TARGET_SLICE_MS", "250")
    monkeypatch.setenv("FOREBAY_SAFETY_FACTOR", "0.5")
    monkeypatch.setenv("FOREBAY_LOCK_FLOOR_MS", "20000")
    monkeypatch.setenv("FOREBAY_LOCK_CAP_MS", "90000")
    monkeypatch.setenv("FOREBAY_MAX_ATTEMPTS_ERROR", "7")
    monkeypatch.setenv("FOREBAY_MAX_ATTEMPTS_NOT_FOUND", "4")
    found = Settings()
    assert (found.slice_ms, found.claim_safety) == (250.0, 0.5)
    assert (found.lease_floor_s, found.lease_cap_s) == (20.0, 90.0)
    assert (found.sheets_max_attempts_error, found.sheets_max_attempts_not_found) == (7, 4)


def test_the_proper_name_counts_where_both_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREBAY_LOCK_FLOOR_MS", "20000")
    monkeypatch.setenv("FOREBAY_LEASE_FLOOR_S", "30")
    assert Settings().lease_floor_s == 30.0


def test_a_wrong_value_is_refused_by_the_settings_own_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREBAY_LOCK_CAP_MS", "soon")
    with pytest.raises(ValidationError, match="lease_cap_s"):
        Settings()


def test_other_names_lead_to_settings_that_there_are() -> None:
    assert {name for name, _ in OTHER_NAMES.values()} <= set(Settings.model_fields)


def test_days_of_single_pipelines() -> None:
    assert days_by_name(" bookmarks = 1, sheets=90,") == {"bookmarks": 1, "sheets": 90}
    for wrong in ("bookmarks", "=3", "sheets=0", "sheets=soon"):
        with pytest.raises(ValidationError, match="is not the name of a pipeline and a number of days, as bookmarks=1"):
            Settings(keep_jobs_days_of=wrong)
