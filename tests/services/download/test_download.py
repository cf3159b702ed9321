"""Downloads over several attempts, from servers of which most are hostile or broken."""

from __future__ import annotations

import asyncio
import hashlib
import zlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from forebay.errors import DataError, PermanentError, ThrottledError, TransientError
from forebay.services.download.partial_file import open_partial
from forebay.services.download.resuming import ContentRange, Downloaded, download
from forebay.services.egress import FetchRequest, Http, UrlNotFound, open_http
from tests.services.egress._world import Site, answering, reply, serving
from tests.services.egress.conftest import Opened

BODY = b"abcdefghij" * 70_000
HALF = len(BODY) // 2
LONG_AGO, NOW = "Sun, 15 Nov 2026 10:00:00 GMT", "Mon, 16 Nov 2026 10:00:00 GMT"


def part(body: bytes, start: int, total: int | str, **headers: Any) -> bytes:
    told = f"bytes {start}-{start + len(body) - 1}/{total}"
    return reply(body, "206 Partial Content", Content_Range=told, **headers)


def broken(sent: int, **headers: Any) -> bytes:
    """A whole answer that breaks off after so many bytes."""
    whole = reply(BODY, **headers)
    return whole[: len(whole) - len(BODY) + sent]


def hanging_up(answer: Callable[[str], bytes]) -> AbstractAsyncContextManager[Site]:
    """A server that closes the connection after its answer, whether that was all of it or not."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer((await reader.readuntil(b"\r\n\r\n")).decode("latin-1")))
        await writer.drain()

    return serving(handle)


class Target:
    """A partial file, and what is downloaded into it attempt by attempt."""

    def __init__(self, http: Http, path: Path) -> None:
        self.http, self.path = http, path
        self.reports: list[tuple[int, int | None]] = []
        self.max_bytes = 1 << 20

    async def attempt(self, port: int, path: str = "/file", timeout: float = 30.0) -> Downloaded:
        wanted = FetchRequest(f"http://good.test:{port}{path}", "test", self.max_bytes, timeout, polite=False)
        async with open_partial(self.path) as partial:
            return await download(self.http, wanted, partial, report=lambda *told: self.reports.append(told))

    async def begin(self, sent: int = HALF, **headers: Any) -> None:
        """An attempt that is cut off."""
        async with hanging_up(lambda _: broken(sent, **(headers or {"ETag": '"1"'}))) as site:
            with pytest.raises(TransientError):
                await self.attempt(site.port)
        assert self.path.stat().st_size == sent


@pytest.fixture
def target(http: Http, tmp_path: Path) -> Target:
    return Target(http, tmp_path / "partial")


def check(done: Downloaded, content: bytes = BODY) -> None:
    assert done.path.read_bytes() == content
    assert (done.size, done.sha256) == (len(content), hashlib.sha256(content).hexdigest())


async def test_all_at_once(target: Target) -> None:
    headers = {"ETag": '"1"', "Content_Type": "video/mp4; x=y", "Last_Modified": LONG_AGO}
    async with answering(reply(BODY, **headers)) as site:
        done = await target.attempt(site.port)
        check(done)
        assert (done.media_type, done.etag, done.modified) == ("video/mp4", '"1"', LONG_AGO)
        again = await target.attempt(site.port)  # as after a crash behind the last byte
        assert (again, len(site.heads)) == (done, 1)
    assert "accept-encoding: identity" in site.heads[0].lower()
    assert target.reports[-1] == (len(BODY), len(BODY))
    assert 2 <= len(target.reports) < 10


async def test_nothing_at_all(target: Target) -> None:
    async with answering(reply(b"")) as site:
        check(await target.attempt(site.port), b"")


@pytest.mark.parametrize(
    ("headers", "proof"),
    [
        ({"ETag": '"1"'}, '"1"'),
        ({"ETag": 'W/"1"', "Last_Modified": LONG_AGO, "Date": NOW}, LONG_AGO.lower()),
        ({"Last_Modified": LONG_AGO, "Date": NOW}, LONG_AGO.lower()),
    ],
)
async def test_the_next_attempt_fetches_only_the_rest(target: Target, headers: dict[str, Any], proof: str) -> None:
    await target.begin(**headers)
    async with answering(part(BODY[HALF:], HALF, len(BODY), **headers)) as site:
        check(await target.attempt(site.port))
    asked = site.heads[0].lower()
    assert f"range: bytes={HALF}-\r\n" in asked
    assert f"if-range: {proof}\r\n" in asked
    assert target.reports[0][0] <= HALF < target.reports[-1][0]


@pytest.mark.parametrize(
    "headers",
    [
        {"X": "y"},
        {"ETag": 'W/"1"'},
        {"Last_Modified": LONG_AGO},  # of now, for all that is known
        {"Last_Modified": LONG_AGO, "Date": LONG_AGO},  # may have changed twice within that second
        {"Last_Modified": "yesterday", "Date": NOW},
    ],
)
async def test_without_proof_it_begins_anew(target: Target, headers: dict[str, Any]) -> None:
    await target.begin(**headers)
    async with answering(reply(BODY)) as site:
        check(await target.attempt(site.port))
    assert "range:" not in site.heads[0].lower()


_REST = BODY[HALF:]


@pytest.mark.parametrize(
    "answers",
    [
        [reply(BODY, ETag='"2"')],  # If-Range does not hold, or the server knows no ranges
        [reply(_REST, "206 Partial Content"), reply(BODY)],  # which part?
        [part(_REST, HALF - 7, len(BODY)), reply(BODY)],  # another part
        [reply(_REST, "206 Partial Content", Content_Range=f"bytes {HALF}-{HALF - 1}/*"), reply(BODY)],
        [reply(_REST, "206 Partial Content", Content_Range=f"bytes {HALF}-{HALF + 99}/{HALF + 9}"), reply(BODY)],
        [part(_REST, HALF, len(BODY) + 5), reply(BODY)],  # of something that is longer by now
        [part(_REST, HALF, len(BODY), ETag='"2"'), reply(BODY)],  # changed, and If-Range was ignored
        [part(_REST, HALF, len(BODY), Content_Encoding="gzip"), reply(BODY)],
        [reply(b"", "416 Range Not Satisfiable", Content_Range="bytes */7"), reply(BODY)],
        [reply(b"", "416 Range Not Satisfiable"), reply(BODY)],
        [reply(b"", "416 Range Not Satisfiable", Content_Range=f"bytes */{HALF}", ETag='"2"'), reply(BODY)],
    ],
)
async def test_it_goes_on_only_with_proof(target: Target, answers: list[bytes]) -> None:
    await target.begin()
    async with answering(*answers) as site:
        check(await target.attempt(site.port))
    assert len(site.heads) == len(answers)


async def test_a_416_that_says_that_all_of_it_is_there(target: Target) -> None:
    """The size was not known before: the server had sent it in chunks, and hung up before the last."""
    chunked = b'HTTP/1.1 200 OK\r\nETag: "1"\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n' % (len(BODY), BODY)
    async with hanging_up(lambda _: chunked) as site:
        with pytest.raises(TransientError):
            await target.attempt(site.port)
    async with answering(reply(b"", "416 Range Not Satisfiable", Content_Range=f"bytes */{len(BODY)}")) as site:
        check(await target.attempt(site.port))
    assert len(site.heads) == 1


async def test_a_connection_that_breaks_is_continued_within_the_attempt(target: Target) -> None:
    """Three times, by a server that hangs up: each time with what is missing, and no byte twice."""
    sent: list[int] = []

    def rest(head: str) -> bytes:
        begin = int(head.lower().partition("range: bytes=")[2].partition("-")[0] or 0)
        sent.append(begin)
        piece = BODY[begin : begin + 200_000]
        whole = part(BODY[begin:], begin, len(BODY), ETag='"1"') if begin else reply(BODY, ETag='"1"')
        return whole[: whole.index(b"\r\n\r\n") + 4] + piece

    async with hanging_up(rest) as site:
        check(await target.attempt(site.port))
    assert sent == [0, 200_000, 400_000, 600_000]


async def test_one_that_breaks_again_and_again_fails_the_attempt(target: Target) -> None:
    asked = 0

    def drop(head: str) -> bytes:
        nonlocal asked
        asked += 1
        begin = int(head.lower().partition("range: bytes=")[2].partition("-")[0] or 0)
        whole = part(BODY[begin:], begin, len(BODY), ETag='"1"') if begin else reply(BODY, ETag='"1"')
        return whole[: whole.index(b"\r\n\r\n") + 14]

    async with hanging_up(drop) as site:
        with pytest.raises(TransientError):
            await target.attempt(site.port)
    assert (asked, target.path.stat().st_size) == (6, 60)


async def test_short_ranges_are_put_together(target: Target) -> None:
    """A server may send less than it is asked for; that is no break."""
    await target.begin()
    third = len(_REST) // 2
    first, last = part(_REST[:third], HALF, len(BODY)), part(_REST[third:], HALF + third, len(BODY))
    async with answering(first, last) as site:
        check(await target.attempt(site.port))
    assert len(site.heads) == 2


async def test_longer_than_promised(target: Target) -> None:
    """By chunks, for which HTTP itself has no length: nothing of it is kept."""
    await target.begin()
    head = (
        f'HTTP/1.1 206 Partial\r\nETag: "1"\r\nContent-Range: bytes {HALF}-{HALF + 9}/{HALF + 10}\r\n'
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    lie = head.replace(f"/{HALF + 10}", "/*").encode() + b"14\r\n" + b"x" * 20 + b"\r\n0\r\n\r\n"
    async with answering(lie) as site:
        with pytest.raises(TransientError, match=f"sent more than the {HALF + 10} bytes that it announced"):
            await target.attempt(site.port)
    async with answering(reply(BODY)) as site:
        check(await target.attempt(site.port))
    assert "range:" not in site.heads[0].lower()


async def test_shorter_than_promised(target: Target) -> None:
    await target.begin()
    head = f"HTTP/1.1 206 Partial\r\nContent-Range: bytes {HALF}-{len(BODY) - 1}/{len(BODY)}\r\n"
    async with answering((head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n").encode()) as site:
        with pytest.raises(TransientError, match=f"sent {HALF} of {len(BODY)} bytes"):
            await target.attempt(site.port)
    assert target.path.stat().st_size == HALF


async def test_gzip_though_nobody_asked_for_it(target: Target) -> None:
    """It is inflated, and never continued: ranges would be of the compressed bytes."""
    packed = zlib.compress(BODY, wbits=31)
    head = reply(packed, ETag='"1"', Content_Encoding="gzip")
    async with hanging_up(lambda _: head[:-10]) as site:
        with pytest.raises(TransientError):
            await target.attempt(site.port)
    async with answering(head) as site:
        check(await target.attempt(site.port))
    assert "range:" not in site.heads[0].lower()


async def test_a_server_that_stalls(opened: Opened, tmp_path: Path) -> None:
    async with opened(egress_idle_s=0.3) as egress, open_http(egress) as http:
        target = Target(http, tmp_path / "partial")
        async with answering(broken(HALF, ETag='"1"')) as site:
            with pytest.raises(TransientError, match=r"did not answer in time|no response|closed the connection"):
                await target.attempt(site.port)
        async with answering(part(_REST, HALF, len(BODY))) as site:
            check(await target.attempt(site.port))


async def test_redirects_may_lead_elsewhere_next_time(target: Target) -> None:
    """As they do to signed URLs of other servers: the proof counts, not the address."""

    def leading(to: Site) -> bytes:
        return reply(b"", "302 Found", Location=f"http://good.test:{to.port}/a?sig={to.port}")

    async with hanging_up(lambda _: broken(HALF, ETag='"1"')) as first, answering(leading(first)) as site:
        with pytest.raises(TransientError):
            await target.attempt(site.port)
    rest = part(_REST, HALF, len(BODY), ETag='"1"')
    async with answering(rest) as second, answering(leading(second)) as site:
        check(await target.attempt(site.port))
    assert f"range: bytes={HALF}-" in second.heads[0].lower()


@pytest.mark.parametrize(
    ("answer", "kind", "words", "is_kept"),
    [
        (reply(b"", "500 Oops"), TransientError, "answered 500", True),
        (reply(b"", "403 Forbidden"), PermanentError, "answered 403", True),  # the URL is too old: a fresh one may do
        (reply(b"", "429 Slow", Retry_After=7), ThrottledError, "rate limiting", True),
        (reply(b"", "404 Gone"), UrlNotFound, "answered 404", False),
        (part(_REST, HALF, 2_000_000), DataError, "has 2000000 bytes; at most 700000 are allowed", False),
        (part(_REST + b"x", HALF, "*"), DataError, "has more than 700000 bytes, the maximum", False),
        (reply(BODY + b"x"), DataError, "has 700001 bytes; at most 700000 are allowed", False),
    ],
)
async def test_what_becomes_of_the_file(
    target: Target, answer: bytes, kind: type[Exception], words: str, is_kept: bool
) -> None:
    await target.begin()
    target.max_bytes = len(BODY)
    if kind is DataError and b"/2000000" in answer:  # else the known total speaks against it
        (target.path.with_name("partial.json")).write_text(
            target.path.with_name("partial.json").read_text().replace(f'"total": {len(BODY)}', '"total": null')
        )
    async with answering(answer) as site:
        with pytest.raises(kind, match=words):
            await target.attempt(site.port)
    assert (target.path.exists(), target.path.with_name("partial.json").exists()) == (is_kept, is_kept)


@pytest.mark.parametrize("status", ["204 No Content", "206 Partial Content"])
async def test_an_answer_that_is_no_file(target: Target, status: str) -> None:
    async with answering(reply(b"", status)) as site:
        with pytest.raises(PermanentError, match=rf"answered {status[:3]}, which is not a whole file"):
            await target.attempt(site.port)


async def test_time_is_for_all_of_it(target: Target) -> None:
    """A server that sends a byte now and then never stalls; the attempt ends all the same, and the next goes on."""

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(broken(0, ETag='"1"'))
        while True:
            writer.write(b"a")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with serving(drip) as site:
        with pytest.raises(TransientError, match="did not answer within"):
            await target.attempt(site.port, timeout=0.3)
    assert 0 < target.path.stat().st_size < 100


def test_content_ranges() -> None:
    assert ContentRange.of({"content-range": "bytes 5-9/10"}) == ContentRange(5, 10, 10)
    assert ContentRange.of({"content-range": "bytes */10"}) == ContentRange(None, None, 10)
    for wrong in ("", "bytes 5-9", "bytes 9-5/10", "bytes 5-9/9", "items 5-9/10", f"bytes 5-9/{'9' * 30}"):
        assert ContentRange.of({"content-range": wrong}) is None
