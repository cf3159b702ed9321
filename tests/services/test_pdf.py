"""PDF files: good ones, protected ones, and such that are out to do harm."""

from __future__ import annotations

import io
import pickle
import zlib
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from forebay.errors import DataError
from forebay.services import pdf as pdfs
from tests.services._files import pdf


def first_page(data: bytes, width: int) -> pdfs.PdfFacts:
    """What is read of these bytes in a file."""
    with NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return pdfs.first_page(Path(file.name), width)


def _image(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def test_a_pdf() -> None:
    facts = first_page(pdf("Hello forebay", "Second page", title="A  fine\ntitle"), 300)
    assert (facts.pages, facts.title, facts.author) == (2, "A fine title", "Ann")
    assert facts.text == "Hello forebay\n\nSecond page"
    image = _image(facts.image)
    assert (image.format, image.size, (facts.width, facts.height)) == ("WEBP", (300, 400), (300, 400))
    assert sum(image.convert("L").histogram()[:128]) > 50  # there is something on it
    assert pickle.loads(pickle.dumps(facts)) == facts


def test_only_the_first_pages_are_read() -> None:
    facts = first_page(pdf(*(f"page {n}" for n in range(1, 31))), 100)
    assert (facts.pages, facts.title) == (30, None)
    assert facts.text.endswith("page 20")


@pytest.mark.parametrize(
    ("box", "size"),
    [
        ("0 0 600 600", (200, 200)),
        ("0 0 10 100000", None),
        ("0 0 14400 14400", (200, 200)),
        ("0 0 100 1000", (80, 800)),  # no taller than four times as wide as wanted
        ("100 100 300 200", (200, 100)),
    ],
)
def test_pages_of_any_shape(box: str, size: tuple[int, int] | None) -> None:
    data = pdf("x", box=box)
    if size is None:
        with pytest.raises(DataError, match=r"^the first page of the PDF is 10 x 100000 points large$"):
            first_page(data, 200)
    else:
        facts = first_page(data, 200)
        assert (facts.width, facts.height) == size


NONE = r"^the file is truncated or damaged, or not a PDF$"
_BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the PDF is empty"),
    "text": (b"hello", NONE),
    "only a head": (b"%PDF-1.7\n%%EOF", NONE),
    "no pages": (pdf(), NONE),
    "huge page": (pdf("x", box="0 0 1000000000 1000000000"), r"^the first page of the PDF is .* points large$"),
}


@pytest.mark.parametrize("name", _BAD)
def test_bad_files_are_refused_in_words(name: str) -> None:
    data, reason = _BAD[name]
    with pytest.raises(DataError, match=reason):
        first_page(data, 200)


def test_a_pdf_of_too_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdfs, "MAX_BYTES", 100)
    with pytest.raises(DataError, match=r"^the PDF has [0-9]+ bytes; 100 are allowed$"):
        first_page(pdf("x"), 200)


def test_a_password() -> None:
    with pytest.raises(DataError, match=r"^the PDF is protected by a password: save it without one$"):
        first_page(_protected(), 200)


def _protected() -> bytes:
    """A file that says it is encrypted; whatever its keys are, the empty password is not the right one."""
    plain = pdf("secret")
    keys = "/Filter /Standard /V 1 /R 2 /P -4 /O <" + "11" * 32 + "> /U <" + "22" * 32 + ">"
    head, _, tail = plain.rpartition(b"trailer\n<< ")
    return head + b"trailer\n<< /Encrypt << " + keys.encode() + b" >> /ID [<00><00>] " + tail


def test_a_stream_that_becomes_large_is_drawn_within_bounds() -> None:
    """Nine hundred thousand operators in a kilobyte: time and memory are the child's limits, the result is an image."""
    operators = zlib.compress(b"0 0 m 600 800 l S\n" * 50_000)
    stream = f"<< /Length {len(operators)} /Filter /FlateDecode >>\nstream\n".encode() + operators + b"\nendstream"
    plain = pdf("MARK")
    begin = plain.index(b"<< /Length")
    end = plain.index(b"endstream") + len(b"endstream")
    facts = first_page(plain[:begin] + stream + plain[end:], 200)
    assert facts.pages == 1


_SEED = pdf("Hello forebay", "Second page", title="A title")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(_SEED) - 1), st.integers(0, 255)), min_size=1, max_size=12))
def test_damaged_files_are_read_or_refused(changes: list[tuple[int, int]]) -> None:
    broken = bytearray(_SEED)
    for place, value in changes:
        broken[place] = value
    try:
        facts = first_page(bytes(broken), 50)
    except DataError:
        return
    assert facts.pages >= 1
    assert facts.text.encode().decode() == facts.text  # which not every string could
