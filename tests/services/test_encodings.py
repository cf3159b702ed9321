"""Encodings: names that are read, and what undeclared bytes are."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.errors import ConfigError
from forebay.services.encodings import codec_name, decode_page, guess, labels
from forebay.services.encodings.ranking import guess_codec


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("UTF-8", "utf_8"),
        ("unicode-1-1-utf-8", "utf_8"),
        ("ISO_8859-1", "cp1252"),
        ("us-ascii", "cp1252"),
        ("x-cp1251", "cp1251"),
        ("windows-1258", "cp1258"),
        ("iso-8859-8-i", "iso8859_8"),
        ("csisolatin9", "iso8859_15"),
        ("ISO8859-16", "iso8859_16"),
        ("iso-8859-9", "cp1254"),
        ("gb_2312-80", "gb18030"),
        ("Shift_JIS", "cp932"),
        ("ks_c_5601-1989", "cp949"),
        ("cn-big5", "big5hkscs"),
        ("x-mac-ukrainian", "mac_cyrillic"),
        ("dos-874", "cp874"),
        ("utf-16", "utf_16_le"),
        ("koi8-ru", "koi8_u"),
    ],
)
def test_labels_of_the_web_are_known(label: str, codec: str) -> None:
    assert codec_name(label) == codec


@pytest.mark.parametrize(
    "label", ["zlib", "punycode", "idna", "rot13", "utf-7", "iso-2022-kr", "hz-gb-2312", "iso-8859-12", "", "x"]
)
def test_other_codecs_of_python_are_not(label: str) -> None:
    assert codec_name(label) is None


def _table(*names: str) -> str:
    return "sku;name;price\r\n" + "".join(f"A-{n};{name};{n},90\r\n" for n, name in enumerate(names))


_WORDS = [
    ("cp1252", ["ESPAÑA 3º", "CAMIÓN Nº 5", "MUÑECA"]),
    ("cp1252", ["Tè verde", "Città", "Più grande"]),
    ("cp1252", ["Blå skål", "Rød stol"]),
    ("cp1252", ["5 °C", "12,50 €", "½ litre", "3 × 4"]),  # noqa: RUF001
    ("cp1250", ["Fából készült szék", "Törölköző", "Fűnyíró", "Hűtőszekrény"]),
    ("cp1250", ["Dřevěná židle", "Žlutý hrnek", "Skříň"]),
    ("cp1254", ["Şişe çanta", "Ağaç sandalye", "Işık", "Yıldız"]),  # noqa: RUF001
    ("mac_roman", ["Théière émaillée", "Crème brûlée", "Étagère", "Garçon de café"]),
    ("cp1251", ["Деревянный стул"]),
    ("cp1251", ["ДЕРЕВЯННЫЙ СТУЛ", "КРАСНАЯ РУБАШКА"]),
    ("cp866", ["Деревянный стул", "Красная рубашка"]),
    ("iso8859_5", ["Деревянный стул", "Красная рубашка"]),
    ("cp1253", ["Ξύλινη καρέκλα", "Κόκκινο πουκάμισο"]),
    ("cp1256", ["كرسي خشبي", "قميص أحمر"]),
    ("cp874", ["เก้าอี้ไม้", "เสื้อสีแดง"]),
    ("euc_jp", ["木製の椅子", "赤いシャツ"]),
    ("cp932", ["木製の椅子", "赤いシャツ"]),
    ("gb18030", ["木椅子", "红色衬衫"]),
    ("cp949", ["나무 의자", "빨간 셔츠"]),
]


@pytest.mark.parametrize(("codec", "names"), _WORDS)
def test_a_few_words_tell_the_encoding_of_sheets_and_pages(codec: str, names: list[str]) -> None:
    text = _table(*names) + _table(*(["plain item"] * 40))
    data = text.encode(codec)
    assert data.decode(guess([data], data)) == text
    assert decode_page(data).text == text


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("names", [["mug", "hat"], ["木製の椅子", "赤いシャツ"]])
def test_wide_characters_need_no_mark(codec: str, names: list[str]) -> None:
    text = _table(*names)
    assert decode_page(text.encode(codec)).text == text


def test_seven_bit_japanese() -> None:
    text = _table("木製の椅子")
    assert decode_page(text.encode("iso2022_jp")).text == text


def test_ascii_with_zeros_is_not_wide() -> None:
    assert guess([b"a,b\n1,x\0y\n2,z\n"], b"a,b\n1,x\0y\n2,z\n") == "utf_8"


# Pages.


def test_a_stray_byte_does_not_make_a_page_japanese() -> None:
    page = "<title>Grüße</title>\n<p>Schöne Grüße aus München, für alle.</p>\n".encode() + b"\xff"
    assert decode_page(page).text == "<title>Grüße</title>\n<p>Schöne Grüße aus München, für alle.</p>\n\ufffd"


@pytest.mark.parametrize("declared", ["gb2312", "big5", "windows-1252", "shift_jis"])
def test_what_is_utf8_as_a_whole_is_utf8_whatever_was_declared(declared: str) -> None:
    text = "<title>DeepMind新电脑登上杂志</title>"
    assert decode_page(text.encode(), declared).text == text
    assert decode_page(f"<meta charset={declared}>{text}".encode()).charset == "utf-8"


def test_what_may_be_utf8_by_chance_is_as_declared() -> None:
    assert decode_page("茅".encode("gb18030"), "gbk").text == "茅"


def test_declared_encodings_are_believed() -> None:
    text = "<p>Žluťoučký kůň</p>"
    assert decode_page(text.encode("iso8859_2"), "iso-8859-2").text == text
    assert decode_page(text.encode("cp1250"), "utf-8").text == text  # but not against the bytes


# Whatever is sent.


@given(st.binary(max_size=2000), st.sampled_from([None, "gbk", "utf-16", "zlib"]))
def test_no_bytes_break_it(data: bytes, declared: str | None) -> None:
    decode_page(data, declared)
    assert "".encode(guess_codec(data)) == b""


_HOSTILE = """
import io, sys
from forebay.services.encodings import decode_page
from forebay.services.spreadsheets.csv_file import look_at_csv
line = b"<p>some text</p>" * 40_000
for data in (
    b"id,html\\n1," + line + "café\\n".encode(),
    b"id,html\\n1," + line + b"caf\\xe9\\n",
    b"a" * 600_000 + b"\\xe9",
    b" " * 600_000 + b"\\xe9",
    b"\\x80" * 600_000,
    b"1" * 60_000 + b"x\\n" + b"2" * 60_000 + b"\\n",
    b'"a,b;c\\td|e# +:~^*&\\n' * 50_000,
    b"'a'," * 50_000 + b"\\n" + b"a," * 50_000 + b"\\n",
    b"a," * 16_000 + b"\\n1,2\\n",
    b" " * 60_000 + b'"a" "b"\\n' * 9,
):
    try:
        look_at_csv(io.BytesIO(data))
    except Exception as error:
        assert type(error).__name__ == "DataError", error
    decode_page(data)
"""


def _within_30_seconds() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (30, 30))


def test_long_lines_take_no_longer_than_their_length() -> None:
    """Any one of these would take minutes if the time grew with the square of a line's length."""
    command = [sys.executable, "-c", _HOSTILE]
    done = subprocess.run(command, preexec_fn=_within_30_seconds, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_labels_need_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "webencodings", None)
    labels._labels.cache_clear()
    with pytest.raises(ConfigError) as raised:
        codec_name("utf-8")
    assert str(raised.value) == (
        "reading text needs a package that is not installed: pip install 'forebay[sheets]' or 'forebay[web]'"
    )


@pytest.mark.parametrize(
    ("codec", "name"),
    [("cp1252", "windows-1252"), ("iso8859_9", "iso-8859-9"), ("gb18030", "gb18030"), ("utf_16_le", "utf-16-le"),
     ("iso8859_8", "iso-8859-8"), ("cp932", "shift_jis"), ("mac_latin2", "mac-latin2")],
)  # fmt: skip
def test_names_as_the_web_writes_them(codec: str, name: str) -> None:
    assert labels.web_name(codec) == name
