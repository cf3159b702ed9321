"""The one input every contender gets: a JSON object of about 200 bytes, numbered by `seq`."""

import json
from collections.abc import Iterator

INPUT_BYTES = 200

_FIXED = {
    "url": "https://news.example/2024/05/a-page-worth-keeping",
    "title": "A page worth keeping, with a title of usual length",
    "tags": ["reading", "later"],
}
_PAD = INPUT_BYTES - len(json.dumps({"seq": 100_000, **_FIXED, "note": ""}))


def input_of(seq: int) -> dict[str, object]:
    return {"seq": seq, **_FIXED, "note": "n" * _PAD}


def inputs(count: int, start: int = 0) -> Iterator[dict[str, object]]:
    return (input_of(seq) for seq in range(start, start + count))


def json_inputs(count: int, start: int = 0) -> Iterator[str]:
    return (json.dumps(value) for value in inputs(count, start))


# The same object made by the server for each `s` of generate_series(…) s.
SQL_INPUT = (
    "jsonb_build_object('seq', s, "
    f"'url', '{_FIXED['url']}', 'title', '{_FIXED['title']}', "
    f"'tags', '[\"reading\", \"later\"]'::jsonb, 'note', repeat('n', {_PAD}))"
)
