"""Encodings that nobody declares: what the readers of sheets and of pages make of the bytes."""

import base64
import io
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from bench.detection.score import Corpora, Score
from forebay.services.encodings import decode_page, find_encoding

# A declaration is blanked and keeps its length, so that nothing but the bytes themselves tell the encoding.
_DECLARED = re.compile(rb"""((?:charset|encoding)\s*=\s*["']?\s*)([\w:.-]+)""", re.IGNORECASE)
Reader = Callable[[bytes], str]


def measure(corpora: Corpora) -> list[Score]:
    cases = [(case, data) for case in _cases(corpora) if (data := _data(corpora, case)) is not None]
    return [
        *_scores("sheets", read_sheet, cases),
        *_scores("pages", read_page, cases),
    ]


def read_sheet(data: bytes) -> str:
    encoding, mark = find_encoding(io.BytesIO(data))
    return data[mark:].decode(encoding, "replace")


def read_page(data: bytes) -> str:
    return decode_page(data).text


def is_right(case: dict[str, Any], data: bytes, reader: Reader) -> bool:
    """Whether the text is the same; which of two encodings that agree on these bytes was found does not matter."""
    expected = data.decode(case["codec"], "replace")
    return reader(data).removeprefix("\ufeff") == expected.removeprefix("\ufeff")


def _scores(who: str, reader: Reader, cases: list[tuple[dict[str, Any], bytes]]) -> Iterator[Score]:
    right = {case["id"]: is_right(case, data, reader) for case, data in cases}
    yield Score(f"{who}: undeclared", sum(right.values()), len(right), bar=0.93, aim=0.96)
    for name in ("chardet", "charset-normalizer", "own"):
        chosen = [right[case["id"]] for case, _ in cases if case["source"] == name]
        yield Score(f"{who}: {name}", sum(chosen), len(chosen))
    odd = [right[case["id"]] for case, _ in cases if case.get("style") == "sparse"]
    yield Score(f"{who}: one odd cell in 31 rows", sum(odd), len(odd))


def _cases(corpora: Corpora) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((corpora.cases / "encodings" / "cases.json").read_bytes())
    return found


def _data(corpora: Corpora, case: dict[str, Any]) -> bytes | None:
    if "data" in case:
        return base64.b64decode(case["data"])
    found = corpora.source_file(case["repo"], case["path"])
    return None if found is None else _blanked(found)


def _blanked(data: bytes) -> bytes:
    return _DECLARED.sub(lambda found: found[1] + b"x" * len(found[2]), data)
