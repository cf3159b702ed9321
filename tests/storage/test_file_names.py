"""Names and media types that come from anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.storage.names import file_name, is_shown, media_type, served_type


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\a.txt", "a.txt"),
        ("", "file"),
        ("..", "file"),
        ("/", "file"),
        ("\0\r\n", "file"),
        (" a \n  b.txt ", "a b.txt"),
        (".htaccess", "htaccess"),
        ("x" * 300 + ".jpeg", "x" * 250 + ".jpeg"),
        ("x" * 300, "x" * 255),
        ("photo\u202egpj.exe", "photogpj.exe"),
        ("\ud800half.txt", "half.txt"),
        ("東京 ← zoë.png", "東京 ← zoë.png"),
    ],
)
def test_names(given_name: str, kept: str) -> None:
    assert file_name(given_name) == kept


@given(st.text())
def test_every_name_can_be_kept(name: str) -> None:
    kept = file_name(name)
    assert 1 <= len(kept) <= 255
    assert not set(kept) & set("/\\\0\r\n")
    assert kept.encode().decode() == kept
    assert file_name(kept) == kept


@pytest.mark.parametrize(
    ("said", "name", "kept"),
    [
        ("IMAGE/PNG; charset=x", "a", "image/png"),
        (None, "a.webp", "image/webp"),
        ("", "a.jpg", "image/jpeg"),
        (None, "a", "application/octet-stream"),
        ("not a type", "a.png", "application/octet-stream"),
        ("image/png\r\nx: y", "a.png", "application/octet-stream"),
        ("a/" + "b" * 65, "a.png", "application/octet-stream"),
    ],
)
def test_media_types(said: str | None, name: str, kept: str) -> None:
    assert media_type(said, name) == kept


@pytest.mark.parametrize("kind", ["text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "text/css"])
def test_what_runs_is_not_shown(kind: str) -> None:
    assert not is_shown(kind)
    assert served_type(kind) == "application/octet-stream"
