"""How durations, sizes and speeds are written; and the texts that the demo is made of."""

from __future__ import annotations

import pytest
from rich.console import Console

from forebay.cli import _show as show
from forebay.example import demo_texts


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, show.NOTHING),
        (0, "0 ms"),
        (0.0042, "4 ms"),
        (0.9999, "1.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.6, "1 min"),
        (200, "3 min 20 s"),
        (3600, "1 h"),
        (3605, "1 h"),
        (90061, "1 d 1 h"),
    ],
)
def test_durations(seconds: float | None, text: str) -> None:
    assert show.duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1400, "1.4 kB"), (12_300_000, "12 MB"), (2.5e12, "2.5 TB")]
)
def test_sizes(count: float, text: str) -> None:
    assert show.size(count) == text


def test_speeds_and_counts() -> None:
    assert [show.rate(speed, "items") for speed in (None, 0, 2.52, 1234)] == [
        f"{show.NOTHING} items/s",
        "0 items/s",
        "2.5 items/s",
        "1,234 items/s",
    ]
    assert [show.plural(count, "task") for count in (0, 1, 2000)] == ["0 tasks", "1 task", "2,000 tasks"]


def test_a_table_keeps_its_ids_and_states_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lines(width: int) -> list[str]:
        made = show.table(">job", "*pipeline", "*owner", "state", ">done", ">not found", "submitted", "key")
        made.add_row("12345", "bookmark_imports", "ann", show.state("CANCELLED"), "1,200", "3", "03:08:03", "a key")
        monkeypatch.setattr(show, "console", lambda: Console(width=width, highlight=False))
        show.print_table(made, spare=("key", "submitted"))
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    wide, medium, narrow = lines(120), lines(80), lines(72)
    assert wide[2].split() == ["12345", "bookmark_imports", "ann", "CANCELLED", "1,200", "3", "03:08:03", "a", "key"]
    assert medium[2].split() == ["12345", "bookmark_…", "ann", "CANCELLED", "1,200", "3", "03:08:03", "a", "key"]
    assert narrow[2].split() == ["12345", "bookmark_…", "ann", "CANCELLED", "1,200", "3", "03:08:03"]
    assert "key" not in narrow[0]


def test_the_longest_columns_are_shortened_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = show.table(">id", "*title", "*address")
    made.add_row("1", "A title of some words", "https://example.com/" + "x" * 100)
    monkeypatch.setattr(show, "console", lambda: Console(width=60, highlight=False))
    show.print_table(made)
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.endswith("…")]
    assert len(row) == 60
    assert "A title of some words" in row


def test_the_demo_is_the_same_everywhere_and_has_one_broken_text() -> None:
    texts = list(demo_texts())
    assert len(texts) == 301
    assert [text.title for text in texts if not text.body] == ["An empty page"]
    assert texts == list(demo_texts())
