"""The HTTP client: guarded, bounded, and with words for what goes wrong."""

# demands: S1-113, S1-114, S3-59, S3-60, S4-85

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from pathlib import Path

import certifi
import pytest
import trustme

from forebay.errors import ConfigError, DataError, PermanentError, ThrottledError, TransientError
from forebay.services.egress import (
    AccessDenied,
    Egress,
    FetchRequest,
    Hop,
    Http,
    InvalidUrl,
    Refused,
    Unreachable,
    UrlNotFound,
    open_http,
)
from tests.services.egress._world import Names, answering, certified, hearing, reply, serving, speaking_http2, until
from tests.services.egress.conftest import Opened


async def test_a_page(http: Http) -> None:
    async with answering(reply("<p>Hi", Content_Type="text/html; charset=UTF-8", ETag='"1"')) as site:
        page = await http.get(f"http://good.test:{site.port}/a?b#c", purpose="test")
    assert (page.url, page.status, page.content, page.size) == (f"http://good.test:{site.port}/a?b#c", 200, b"<p>Hi", 5)
    assert (page.media_type, page.charset, page.etag, page.modified) == ("text/html", "utf-8", '"1"', None)
    head = site.heads[0].lower()
    assert head.startswith("get /a?b http/1.1\r\n")
    assert f"host: good.test:{site.port}\r\n" in head
    assert "accept-encoding: gzip, deflate\r\n" in head
    assert "forebay" in head
    assert "proxy-" not in head


async def test_connections_are_used_again(http: Http) -> None:
    async with answering(reply("x")) as site:
        for _ in range(3):
            await http.get(f"http://good.test:{site.port}/", purpose="test")
    assert (len(site.heads), site.connections) == (3, 1)


async def test_only_so_many_hosts_stay_connected(egress: Egress, http: Http, names: Names) -> None:
    for n in range(70):
        names.put(f"{n}.test", "127.0.0.1")
    async with answering(reply("x")) as site:
        held = FetchRequest(f"http://good.test:{site.port}/", "test", 1000, 60)
        async with http.stream(held) as answer:
            for n in range(70):
                await http.get(f"http://{n}.test:{site.port}/", purpose="test")
            assert (await answer.read()).content == b"x"  # what is in use is not closed
        await until(lambda: egress.describe()["open_connections"] <= 34)
        assert site.connections == 71


async def test_hosts_that_are_not_asked_any_more(
    egress: Egress, http: Http, names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    names.put("other.test", "127.0.0.1")
    async with answering(reply("x")) as site:
        await http.get(f"http://good.test:{site.port}/", purpose="test")
        monkeypatch.setattr("forebay.services.egress.pools._KEPT_S", -1.0)
        await http.get(f"http://other.test:{site.port}/", purpose="test")
        await until(lambda: egress.describe()["open_connections"] == 1)


async def test_many_at_once(http: Http) -> None:
    async with answering(reply("x")) as site:
        urls = [f"http://good.test:{site.port}/{n}" for n in range(100)]
        pages = await asyncio.gather(*(http.get(url, purpose="test") for url in urls))
    assert [page.url for page in pages] == urls
    assert len(site.heads) == 100
    assert site.connections <= 50


async def test_http2_over_tls(http: Http, authority: trustme.CA) -> None:
    async with speaking_http2(certified(authority, "good.test"), b"two") as site:
        pages = [await http.get(f"https://good.test:{site.port}/{n}", purpose="test") for n in range(3)]
    assert [page.content for page in pages] == [b"two"] * 3
    assert (site.heads, site.connections) == (["/0", "/1", "/2"], 1)


async def test_nothing_new(http: Http) -> None:
    async with answering(b"HTTP/1.1 304 Not Modified\r\n\r\n") as site:
        page = await http.get(
            f"http://good.test:{site.port}/", purpose="test", etag='"7"', modified="Sun, 15 Nov 2026 10:00:00 GMT"
        )
    assert (page.is_unchanged, page.content) == (True, b"")
    assert 'if-none-match: "7"' in site.heads[0].lower()
    assert "if-modified-since: sun, 15 nov 2026 10:00:00 gmt" in site.heads[0].lower()


async def test_a_post(http: Http) -> None:
    async with answering(reply('{"ok": true}', Content_Type="application/json")) as site:
        url = f"http://good.test:{site.port}/token"
        wanted = FetchRequest(
            url, "test", 1000, 30, method="POST", body=b'{"a": 1}', headers={"Content-Type": "application/json"}
        )
        assert (await http.fetch(wanted)).content == b'{"ok": true}'
    assert site.heads[0].startswith("POST /token")
    assert site.heads[0].endswith('\r\n\r\n{"a": 1}')


# What the guard says.


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_refused_host(http: Http, scheme: str) -> None:
    with hearing() as logs, pytest.raises(Refused) as refused:
        await http.get(f"{scheme}://bad.test/", purpose="bookmarks.metadata")
    assert refused.value.code == "address"
    assert str(refused.value) == (
        "refused by the egress guard: bad.test has no public address; "
        "FOREBAY_EGRESS_ALLOW_NETWORKS can allow private networks"
    )
    (told,) = [log for log in logs if log["event"] == "egress_refused"]
    assert (told["host"], told["purpose"], told["code"]) == ("bad.test", "bookmarks.metadata", "address")
    assert told["reason"] == "bad.test resolves to 10.0.0.1, which is private"


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_there_is_no_such_host(http: Http, scheme: str) -> None:
    with pytest.raises(UrlNotFound, match=r"the host absent\.test does not exist"):
        await http.get(f"{scheme}://absent.test/", purpose="test")


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_nobody_listens(http: Http, scheme: str) -> None:
    async with answering(reply()) as site:
        pass
    with pytest.raises(Unreachable, match=r"good\.test could not be connected to: .*refused") as failed:
        await http.get(f"{scheme}://good.test:{site.port}/", purpose="test")
    assert failed.value.code == "connect"


async def test_a_server_cannot_speak_for_the_guard(http: Http) -> None:
    async with answering(reply("refused by me", Forebay_Egress="address")) as site:
        page = await http.get(f"http://good.test:{site.port}/", purpose="test")
    assert page.content == b"refused by me"
    assert "forebay-egress" not in page.headers


async def test_addresses_in_place_of_names(http: Http, opened: Opened, authority: trustme.CA) -> None:
    for url in ("https://[fd00::1]/", "http://[fd00::1]/"):
        with pytest.raises(Refused, match="fd00::1 is private"):
            await http.get(url, purpose="test")
    async with (
        answering(reply("six"), host="::1") as site,
        opened(egress_allow_networks="::1/128") as egress,
        open_http(egress) as other,
    ):
        assert (await other.get(f"http://[::1]:{site.port}/", purpose="test")).content == b"six"
    async with (
        answering(reply("six"), trust=certified(authority, "::1"), host="::1") as site_6,
        opened(egress_allow_networks="::1/128") as egress,
        open_http(egress) as other,
    ):
        assert (await other.get(f"https://[::1]:{site_6.port}/", purpose="test")).content == b"six"
    assert f"host: [::1]:{site.port}\r\n" in site.heads[0].lower()


# Redirects.


def moved(to: str, status: int = 302) -> bytes:
    return reply("moved", f"{status} Moved", Location=to)


async def test_redirects_are_followed_and_kept(http: Http) -> None:
    async with (
        answering(reply("here")) as site,
        answering(moved("/b c?d", 301), moved(f"//good.test:{site.port}/x")) as other,
    ):
        page = await http.get(f"http://good.test:{other.port}/a", purpose="test")
    base = f"http://good.test:{other.port}"
    assert page.chain == (Hop(f"{base}/a", 301), Hop(f"{base}/b%20c?d", 302))
    assert page.url == f"http://good.test:{site.port}/x"


@pytest.mark.parametrize("place", ["http://bad.test/", "http://10.0.0.1/", "http://[::ffff:10.0.0.1]/", "//bad.test/x"])
async def test_a_redirect_to_a_private_place(http: Http, place: str) -> None:
    async with answering(moved(place)) as site:
        with hearing() as logs, pytest.raises(Refused, match=r"has no public address|10\.0\.0\.1 is private"):
            await http.get(f"http://good.test:{site.port}/", purpose="test")
    assert [log["code"] for log in logs if log["event"] == "egress_refused"] == ["address"]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("file:///etc/passwd", "redirect: must begin with http:// or https://"),
        ("http://u:p@good.test/", "redirect: contains a user name or password before @: remove it"),
        ("http:\\\\bad.test\\", "redirect: contains a backslash"),
    ],
)
async def test_a_redirect_to_nowhere(http: Http, place: str, words: str) -> None:
    async with answering(moved(place)) as site:
        with pytest.raises(InvalidUrl, match=words):
            await http.get(f"http://good.test:{site.port}/", purpose="test")


async def test_redirects_without_end(http: Http) -> None:
    async with answering(moved("/")) as site:
        with pytest.raises(PermanentError, match=r"http://good\.test:\d+/ redirects in a circle"):
            await http.get(f"http://good.test:{site.port}/", purpose="test")

    def further(head: str) -> bytes:
        return moved(head.split()[1] + "x")

    async with answering(further) as site:
        with pytest.raises(PermanentError, match="redirects more than 10 times"):
            await http.get(f"http://good.test:{site.port}/", purpose="test")
    assert len(site.heads) == 11


async def test_credentials_stay_with_their_origin(http: Http, names: Names) -> None:
    names.put("other.test", "127.0.0.1")
    async with (
        answering(reply("x")) as other,
        answering(moved("/same"), moved(f"http://other.test:{other.port}/")) as site,
    ):
        headers = {"Authorization": "Bearer s3cret", "X-Kind": "kept"}
        await http.get(f"http://good.test:{site.port}/", purpose="test", headers=headers)
    assert all("s3cret" in head for head in site.heads)
    assert len(site.heads) == 2
    assert "s3cret" not in other.heads[0]
    assert "kept" in other.heads[0]


async def test_headers_that_are_secret_stay_with_their_origin(http: Http, names: Names) -> None:
    names.put("other.test", "127.0.0.1")
    async with (
        answering(reply("x")) as other,
        answering(moved("/same"), moved(f"http://other.test:{other.port}/")) as site,
    ):
        headers, secret = {"X-Shop": "s3cret", "X-Kind": "kept"}, frozenset({"x-shop"})
        url = f"http://good.test:{site.port}/"
        await http.fetch(FetchRequest(url, "test", 1000, 30, headers=headers, secret_headers=secret))
    assert ["s3cret" in head for head in site.heads] == [True, True]
    assert ["s3cret" in head for head in other.heads] == [False]
    assert "kept" in other.heads[0]


async def test_cookies_only_when_asked_for(http: Http) -> None:
    first = reply("", "302 Found", Location="/", Set_Cookie="seen=1; Path=/")
    async with answering(first, reply("in")) as site:
        url = f"http://good.test:{site.port}/"
        assert (await http.get(url, purpose="test", cookies=True)).content == b"in"
        assert "cookie: seen=1" in site.heads[1].lower()
        await http.get(url, purpose="test")
        await http.get(url, purpose="test", cookies=True)
        assert not any("cookie:" in head.lower() for head in site.heads[2:])


async def test_a_redirect_after_a_post(http: Http) -> None:
    async with answering(moved("/done", 303), reply("ok")) as site:
        wanted = FetchRequest(f"http://good.test:{site.port}/", "test", 1000, 30, method="POST", body=b"x=1")
        assert (await http.fetch(wanted)).content == b"ok"
        assert site.heads[1].startswith("GET /done")
        assert "content-length" not in site.heads[1].lower()
    async with answering(moved("/again", 307), reply("ok")) as site:
        wanted = FetchRequest(f"http://good.test:{site.port}/", "test", 1000, 30, method="POST", body=b"x=1")
        await http.fetch(wanted)
        assert site.heads[1].startswith("POST /again")
        assert site.heads[1].endswith("x=1")


# Statuses.


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("404 Not Found", UrlNotFound),
        ("410 Gone", UrlNotFound),
        ("401 Unauthorized", AccessDenied),
        ("403 Forbidden", AccessDenied),
        ("451 Unavailable", PermanentError),
        ("408 Request Timeout", TransientError),
        ("500 Internal Server Error", TransientError),
        ("502 Bad Gateway", TransientError),
        ("503 Service Unavailable", TransientError),
        ("599 Odd", TransientError),
    ],
)
async def test_statuses_are_errors(http: Http, status: str, kind: type[Exception]) -> None:
    async with answering(reply("page", status)) as site:
        url = f"http://good.test:{site.port}/page?token=s3cret"
        with pytest.raises(kind, match=rf"http://good\.test:\d+/page answered {status[:3]}") as failed:
            await http.get(url, purpose="test")
        assert type(failed.value) is kind
        assert "s3cret" not in str(failed.value)
        page = await http.get(url, purpose="test", raise_for_status=False)
        assert (page.status, page.content) == (int(status[:3]), b"page")


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
async def test_patience_is_for_the_whole_host(http: Http, status: str) -> None:
    async with answering(reply("", status, Retry_After="120"), reply("x")) as site:
        url = f"http://good.test:{site.port}/"
        with pytest.raises(ThrottledError, match=rf"\({status[:3]}\); retrying in 120 s") as told:
            await http.get(url, purpose="test")
        assert told.value.retry_after == 120
        with pytest.raises(ThrottledError, match=r"good\.test is rate limiting us; retrying in 1[12]\d s") as others:
            await http.get(f"{url}other", purpose="another")
        assert 100 < others.value.retry_after <= 120
        assert len(site.heads) == 1


# Bodies.


async def test_compressed_bodies(http: Http) -> None:
    text = b"some text " * 1000
    raw = zlib.compressobj(wbits=-15)
    bodies = {
        "gzip": gzip.compress(text[:5000]) + gzip.compress(text[5000:]) + b"\0\0",
        "x-gzip": gzip.compress(text),
        "deflate": zlib.compress(text),
        " Deflate": raw.compress(text) + raw.flush(),
        "identity": text,
    }
    for encoding, body in bodies.items():
        async with answering(reply(body, Content_Encoding=encoding)) as site:
            page = await http.get(f"http://good.test:{site.port}/", purpose="test")
            assert page.content == text, encoding


async def test_a_bomb(http: Http) -> None:
    async with answering(reply(gzip.compress(b"\0" * (64 << 20)), Content_Encoding="gzip")) as site:
        url = f"http://good.test:{site.port}/"
        with pytest.raises(DataError, match=r"http://good\.test:\d+/ decompresses to more than 200 times its size"):
            await http.get(url, purpose="test", max_bytes=1 << 30)
        with pytest.raises(DataError, match="has more than 100000 bytes, the maximum"):
            await http.get(url, purpose="test", max_bytes=100_000)


@pytest.mark.parametrize(
    ("body", "encoding", "kind", "words"),
    [
        (b"x" * 2000, "identity", DataError, "has 2000 bytes; at most 1000 are allowed"),
        (b"xyz", "br", DataError, "is encoded as 'br', which was not requested"),
        (b"not gzip", "gzip", DataError, "is invalid: it cannot be decompressed as gzip"),
        (b"not at all", "deflate", DataError, "is invalid: it cannot be decompressed as raw deflate"),
        (gzip.compress(b"x" * 500)[:-10], "gzip", TransientError, "ended in the middle of its gzip"),
    ],
    ids=["too large", "not asked for", "no gzip", "no deflate", "too short"],
)
async def test_bodies_that_are_not_taken(
    http: Http, body: bytes, encoding: str, kind: type[Exception], words: str
) -> None:
    async with answering(reply(body, Content_Encoding=encoding)) as site:
        with pytest.raises(kind, match=words):
            await http.get(f"http://good.test:{site.port}/", purpose="test", max_bytes=1000)


async def test_an_endless_body(http: Http) -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"more" * 10_000)
            await writer.drain()

    async with serving(endless) as site:
        with pytest.raises(DataError, match="has more than 1000000 bytes, the maximum"):
            await http.get(f"http://good.test:{site.port}/", purpose="test", max_bytes=1_000_000)


# Servers that fail.


async def test_a_server_that_hangs(http: Http) -> None:
    asked = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await reader.read()

    async with serving(silent) as site:
        with pytest.raises(TransientError, match=r"http://good\.test:\d+/ did not answer within 0\.2 s"):
            await http.get(f"http://good.test:{site.port}/", purpose="test", timeout=0.2)
        assert asked.is_set()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"", id="closed"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", id="short"),
        pytest.param(b"SSH-2.0-OpenSSH_9\r\n", id="another protocol"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", id="broken chunks"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n", id="huge head"),
    ],
)
async def test_a_server_that_breaks_off(http: Http, answer: bytes) -> None:
    async def breaks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()

    async with serving(breaks) as site:
        with pytest.raises(TransientError):
            await http.get(f"http://good.test:{site.port}/", purpose="test")


async def test_certificates_that_are_not_valid(http: Http, authority: trustme.CA) -> None:
    async with answering(reply("x"), trust=certified(authority, "other.test")) as site:
        with pytest.raises(PermanentError, match=r"good\.test has an invalid certificate: Hostname mismatch"):
            await http.get(f"https://good.test:{site.port}/", purpose="test")
    async with answering(reply("x"), trust=certified(trustme.CA(), "good.test")) as site:
        with pytest.raises(PermanentError, match="has an invalid certificate: unable to get local issuer"):
            await http.get(f"https://good.test:{site.port}/", purpose="test")


async def test_no_tls_at_all(http: Http) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()

    async with serving(plain) as site:
        with pytest.raises(PermanentError, match=r"the TLS handshake with good\.test failed: \w+"):
            await http.get(f"https://good.test:{site.port}/", purpose="test")


async def test_certificates_that_cannot_be_read(opened: Opened, tmp_path: Path) -> None:
    async with opened(egress_ca_file=tmp_path / "absent") as egress:
        with pytest.raises(ConfigError, match=r"FOREBAY_EGRESS_CA_FILE .*absent cannot be read: No such file"):
            async with open_http(egress):
                pass


async def test_a_header_that_is_none(http: Http) -> None:
    async with answering(reply("x")) as site:
        with pytest.raises(PermanentError, match=r"http://good\.test:\d+/ cannot be requested: Illegal header value"):
            await http.get(f"http://good.test:{site.port}/", purpose="test", headers={"X": "a\r\nInjected: 1"})
    assert not site.heads


# Robots.


async def test_robots_are_asked_when_wanted(opened: Opened) -> None:
    rules = "User-agent: *\nDisallow: /private\n\nUser-agent: other\nDisallow: /\n"

    def site_of(head: str) -> bytes:
        return reply(rules) if head.startswith("GET /robots.txt") else reply("page")

    async with answering(site_of) as site, opened(egress_robots=True) as egress, open_http(egress) as http:
        url = f"http://good.test:{site.port}"
        assert (await http.get(f"{url}/open", purpose="test")).content == b"page"
        with pytest.raises(Refused, match=r"robots\.txt of good\.test disallows this page for forebay"):
            await http.get(f"{url}/private/x", purpose="test")
        assert [head.split()[1] for head in site.heads] == ["/robots.txt", "/open"]


async def test_robots_that_lead_away_are_followed_without_asking_again(opened: Opened) -> None:
    def site_of(head: str) -> bytes:
        return reply("", "302 Found", Location="/") if head.startswith("GET /robots.txt") else reply("page")

    async with answering(site_of) as site, opened(egress_robots=True) as egress, open_http(egress) as http:
        assert (await http.get(f"http://good.test:{site.port}/open", purpose="test")).content == b"page"
    assert [head.split()[1] for head in site.heads] == ["/robots.txt", "/", "/open"]


async def test_robots_that_cannot_be_had(opened: Opened) -> None:
    async with opened(egress_robots=True) as egress, open_http(egress) as http:
        async with answering(reply("", "404 Not Found"), reply("page")) as site:
            assert (await http.get(f"http://good.test:{site.port}/", purpose="test")).content == b"page"
        async with answering(reply("", "500 Oops")) as site:
            with pytest.raises(TransientError, match=r"robots\.txt of good\.test could not be read: http"):
                await http.get(f"http://good.test:{site.port}/", purpose="test")


async def test_what_is_seen_of_it(http: Http, egress: Egress) -> None:
    async with answering(reply("x" * 1000)) as site:
        await http.get(f"http://good.test:{site.port}/", purpose="test")
        seen = egress.describe()
    assert seen["bytes_down"] > 1000
    assert (seen["grants"], seen["connections"], seen["requests"], seen["is_confining"]) == (1, 1, 1, False)


def test_trust_has_the_public_authorities(public_certificates: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certifi, "where", lambda: public_certificates)
    from forebay.services.egress.pools import own_trust

    trust = own_trust(None)
    assert trust.cert_store_stats()["x509_ca"] > 50
    assert (trust.verify_mode, trust.check_hostname) == (ssl.CERT_REQUIRED, True)
