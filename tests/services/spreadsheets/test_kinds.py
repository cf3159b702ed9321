"""What a file is, whatever it is called; and archives of pictures."""

from __future__ import annotations

import io
import re
import struct
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.errors import DataError
from forebay.services.spreadsheets import PICTURES, detect, look_at, opened, pictures, read_picture
from forebay.services.spreadsheets.archives import Bounds
from tests.services.spreadsheets._tables import archive, file, workbook

_PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 30
_JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 30


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"a,b\n1,2\n", "csv"),
        ("ä;b\n".encode("cp1252"), "csv"),
        ("a\tb\n1\t2\n".encode("utf-16"), "csv"),
        ("a\tb\n1\t2\n".encode("utf-16-le"), "csv"),
        (b'{"a": 1}\n{"a": 2}\n', "jsonl"),
        (b'{"a": "' + b"x" * 100_000 + b'"}\n', "jsonl"),
        (b"{name},price\n", "csv"),
        (workbook("<row/>"), "xlsx"),
        (_PNG, "image"),
        (_JPEG, "image"),
        (b"GIF89a" + b"\0" * 30, "image"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image"),
        (b"\0\0\0\x20ftypavif", "image"),
        (archive({"a/1.png": _PNG, "2.jpg": _JPEG, "__MACOSX/._1.png": b"x", "a/.DS_Store": b"x"}), "images"),
    ],
)
def test_kinds(data: bytes, kind: str) -> None:
    assert detect(file(data)) == (kind, "")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a workbook in an old format, or with a password: save it as .xlsx"),
        (b"%PDF-1.7", "is a PDF: only tables and images are supported"),
        (b"<html><table>", "is HTML or XML, whatever its name: save it as .xlsx or CSV"),
        (bytes(range(32)) * 100, "is neither a table, nor an image, nor an archive of images"),
        (archive({"1.png": _PNG, "notes.txt": b"hi"}), "is an archive with files other than images"),
        (archive({"1.png": b"a,b"}), "is an archive with files other than images"),
        (archive({"[Content_Types].xml": b"", "word/document.xml": b""}), "is a document, not a workbook"),
        (archive({"[Content_Types].xml": b"", "xl/workbook.bin": b""}), "is a binary workbook: save it as .xlsx"),
        (b"PK\x03\x04 and no end", "this is not a ZIP archive, or its end is missing"),
        (archive({"1.png": _PNG, "more.zip": b""}), "nested archives are not supported: 'more.zip'"),
        (archive({"../1.png": _PNG}), "the archive has an entry with a path outside of it: '../1.png'"),
        (archive({"/etc/1.png": _PNG}), "the archive has an entry with a path outside of it: '/etc/1.png'"),
        (
            archive({"a\\..\\..\\1.png": _PNG}),
            "the archive has an entry with a path outside of it: 'a\\\\..\\\\..\\\\1.png'",
        ),
        (archive({"C:/1.png": _PNG}), "the archive has an entry with a path outside of it: 'C:/1.png'"),
    ],
)
def test_what_is_not_read(data: bytes, reason: str) -> None:
    found = detect(file(data))
    assert found.kind == "unknown"
    assert found.reason == reason


def test_what_is_no_table_is_named() -> None:
    with pytest.raises(DataError, match="the file is not a table but a picture"):
        look_at(file(_PNG))
    with pytest.raises(DataError, match="the file is a PDF: only tables and images are supported"):
        look_at(file(b"%PDF-1.7"))


@given(st.binary(max_size=400), st.sampled_from([b"", b"PK\x03\x04", b"PK\x05\x06", b"\xff\xfe", b"{"]))
def test_no_bytes_break_it(data: bytes, start: bytes) -> None:
    found = detect(io.BytesIO(start + data))
    assert (found.kind == "unknown") == bool(found.reason)


# Archives of pictures.


def test_pictures_are_listed_and_read() -> None:
    data = archive({"b/": b"", "b/1.png": _PNG, "a.jpg": _JPEG})
    with opened(file(data), PICTURES) as found:
        assert pictures(found) == [(1, "b/1.png", len(_PNG)), (2, "a.jpg", len(_JPEG))]
        assert read_picture(found, "a.jpg") == _JPEG
        with pytest.raises(DataError, match=r"the archive has no 'c.jpg'"):
            read_picture(found, "c.jpg")


def test_an_archive_that_is_called_a_picture() -> None:
    data = archive({"1.png": archive({"x": b"y"})})
    with (
        opened(file(data), PICTURES) as found,
        pytest.raises(DataError, match=r"nested archives are not supported: '1.png'"),
    ):
        read_picture(found, "1.png")


def _refused(data: bytes, bounds: Bounds = PICTURES) -> str:
    with pytest.raises(DataError) as refused, opened(file(data), bounds):
        pass
    return str(refused.value)


def test_bounds_of_archives() -> None:
    many = archive({f"{n}.png": b"x" for n in range(11)})
    assert _refused(many, PICTURES._replace(entries=10)) == "the archive has 11 entries; 10 are allowed"
    assert _refused(many, PICTURES._replace(all_bytes=10)) == "the archive unpacks to 11 bytes; 10 are allowed"
    assert re.fullmatch(
        r"'1.png' grows from \d+ to 41943040 bytes when unpacked: more than 200 times is a bomb",
        _refused(archive({"1.png": bytes(40 << 20)})),
    )


def test_archives_that_are_made_oddly() -> None:
    odd, twice = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(odd, "w", zipfile.ZIP_BZIP2) as made:
        made.writestr("1.png", _PNG)
    told = "'1.png' has an unsupported compression method: use deflate"
    assert _refused(odd.getvalue()) == told
    with zipfile.ZipFile(twice, "w") as made:
        made.writestr("1.png", _PNG)
        with pytest.warns(UserWarning, match="Duplicate name"):
            made.writestr("1.png", _JPEG)
    assert _refused(twice.getvalue()) == "the archive has two entries of the same name: '1.png'"
    damaged = archive({"1.png": _PNG}).replace(b"PK\x01\x02", b"PK\x01\xff")
    assert _refused(damaged).startswith("the archive is truncated or damaged: ")


def test_links_and_secrets_are_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        link = zipfile.ZipInfo("1.png")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")
    assert _refused(out.getvalue()) == "the archive has a link: '1.png'"
    plain = archive({"1.png": _PNG})
    directory = plain.rindex(b"PK\x01\x02")
    secret = plain[: directory + 8] + b"\1" + plain[directory + 9 :]
    assert _refused(secret) == "the archive is encrypted ('1.png'): save it without a password"


def test_entries_over_each_other_are_refused() -> None:
    plain = archive({"1.png": _PNG, "2.png": _PNG})
    second = plain.rindex(b"PK\x01\x02")
    overlapping = plain[: second + 42] + struct.pack("<L", 10) + plain[second + 46 :]
    assert _refused(overlapping).startswith("entries of the archive overlap")


def _end(count: int, directory: int, comment: bytes = b"") -> bytes:
    return b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0, count, count, directory, 0, len(comment)) + comment


def _end_64(count: int, directory: int) -> bytes:
    record = b"PK\x06\x06" + struct.pack("<QHHLLQQQQ", 44, 45, 45, 0, 0, count, count, directory, 0)
    return record + b"PK\x06\x07" + struct.pack("<LQL", 0, 0, 1) + _end(0xFFFF, 0xFFFFFFFF)


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (_end(50_001, 100), "the archive has 50001 entries; 50000 are allowed"),
        (_end(0xFFFF, 1 << 24, b"x" * 65_535), "the archive has 65535 entries; 50000 are allowed"),
        (_end_64(600_000, 1 << 24), "the archive has 600000 entries; 50000 are allowed"),
        (_end(10, 25 << 20), "the archive's directory has 26214400 bytes; 65536 are allowed for 10 entries"),
        (_end(10, 0x06054B50), "the archive's directory has 101010256 bytes; 65536 are allowed for 10 entries"),
        (_end_64(10, 25 << 20), "the archive's directory has 26214400 bytes; 65536 are allowed for 10 entries"),
        (_end_64(10, 9)[1:], "the archive is truncated or damaged: the end of its directory is missing"),
    ],
    ids=["many", "many, commented", "many, zip64", "liar", "liar with a second end", "liar, zip64", "zip64, damaged"],
)
def test_a_directory_of_too_many_entries_is_not_parsed(
    monkeypatch: pytest.MonkeyPatch, end: bytes, reason: str
) -> None:
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert _refused(end) == reason


def test_a_picture_that_is_too_large_is_its_own_fault() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("1.png", _PNG + bytes(64 << 20))
        made.writestr("2.png", _PNG)
    with opened(out, PICTURES) as found:
        assert [one.name for one in pictures(found)] == ["1.png", "2.png"]
        assert read_picture(found, "2.png") == _PNG
        with pytest.raises(DataError, match=r"'1\.png' has \d+ bytes; 67108864 are allowed"):
            read_picture(found, "1.png")
