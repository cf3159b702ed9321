"""One reading of a URL, and words for those that are not read."""

# demands: S1-110, S2-08

from __future__ import annotations

import itertools
import string
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forebay.errors import DataError, InvalidField, classify_error
from forebay.services.egress import InvalidUrl, checked_url
from forebay.services.egress.urls import MAX_LENGTH
from forebay.types import ErrorClass


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("http://example.com", "http://example.com/"),
        ("  HTTPS://Example.COM:443/A?b=C#d ", "https://example.com/A?b=C#d"),
        ("http://example.com:80?x", "http://example.com/?x"),
        ("http://example.com:8080/", "http://example.com:8080/"),
        ("http://example.com:/", "http://example.com/"),
        ("http://example.com./", "http://example.com/"),
        ("http://münchen.de/straße?q=ü", "http://xn--mnchen-3ya.de/stra%C3%9Fe?q=%C3%BC"),
        ("http://例え.jp/", "http://xn--r8jz45g.jp/"),
        ("http://my_host.example.com/", "http://my_host.example.com/"),
        ("http://1.2.3.4/", "http://1.2.3.4/"),
        ("http://１２７.0.0.1/", "http://127.0.0.1/"),  # noqa: RUF001 - other digits, the same address
        ("http://127。0。0。1/", "http://127.0.0.1/"),
        ("http://[::1]:8080/", "http://[::1]:8080/"),
        ("http://[::FFFF:127.0.0.1]/", "http://127.0.0.1/"),
        ("http://a/%20?%zz", "http://a/%20?%zz"),
        ('http://a/<">', "http://a/%3C%22%3E"),
        ("http://a/x#a#b", "http://a/x#a%23b"),
    ],
)
def test_normal_form(text: str, normal: str) -> None:
    assert str(checked_url(text)) == normal
    assert str(checked_url(normal)) == normal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty: use a URL such as https://example.com/"),
        ("http://a/" + "x" * MAX_LENGTH, f"has {MAX_LENGTH + 9} characters; at most {MAX_LENGTH} are allowed"),
        ("http://a/\r\nX: y", "contains the invisible character U+000D: remove it, or write it percent-encoded"),
        ("http://a/b c", "contains a space: remove it, or write it percent-encoded"),
        ("http://a\u200b.com/", "contains the invisible character U+200B"),
        ("http://a\u00a0.com/", "contains the invisible character U+00A0"),
        ("http:\\\\a\\b", "contains a backslash: use / between the parts, or %5C for a backslash"),
        ("http://good.test\\@bad.test/", "contains a backslash"),
        ("ftp://a/", "must begin with http:// or https://"),
        ("javascript:alert(1)", "must begin with http:// or https://"),
        ("file:///etc/passwd", "must begin with http:// or https://"),
        ("example.com", "must begin with http:// or https://"),
        ("http:/a/b", "must have // after http: or https:"),
        ("http:a", "must have // after http: or https:"),
        ("http://user:pass@a/", "contains a user name or password before @: remove it"),
        ("http://good.test@bad.test/", "contains a user name or password before @"),
        ("http:///path", "has no host"),
        ("http://?x", "has no host"),
        ("http://a%2eb/", "has a percent sign in its host"),
        ("http://2130706433/", "has the host '2130706433': write addresses as four decimal numbers, like 192.0.2.1"),
        ("http://0x7f.1/", "has the host '0x7f.1': write addresses as four"),
        ("http://0x7f000001/", "write addresses as four decimal numbers"),
        ("http://017700000001/", "write addresses as four decimal numbers"),
        ("http://0177.0.0.1/", "write addresses as four decimal numbers"),
        ("http://127.1/", "write addresses as four decimal numbers"),
        ("http://1.2.3.4.5/", "write addresses as four decimal numbers"),
        ("http://a.0x/", "write addresses as four decimal numbers"),
        ("http://127.0.0.1.:80.5/", "has the port '80.5': ports are numbers from 1 to 65535"),
        ("http://a..b/", "has the host 'a..b', which cannot be the name of one"),
        ("http://-a.com/", "has the host '-a.com', which cannot be the name of one"),
        ("http://a,b/", "has the host 'a,b', which cannot be the name of one"),
        (f"http://{'a' * 64}.com/", "which cannot be the name of one"),
        (f"http://{'a.' * 127}com/", "which cannot be the name of one"),
        ("http://\u00ad/", "which cannot be the name of one"),
        ("http://a:0/", "has the port '0': ports are numbers from 1 to 65535"),
        ("http://a:65536/", "has the port '65536': ports are"),
        ("http://a:٨٠/", "ports are numbers from 1 to 65535"),
        ("http://a:b/", "has the port 'b': ports are"),
        ("http://[::1/", "has the host '[:', which is not an IPv6 address"),
        ("http://2001:db8::1/", "must have brackets around an IPv6 address, as in http://[2001:db8::1]/"),
        ("http://[fe80::1%25eth0]/", "has the host 'fe80::1%25eth0', which is not an IPv6 address"),
        ("http://[::g]/", "has the host '::g', which is not an IPv6 address"),
        ("http://a/\ud800", "contains an invalid character (half of a surrogate pair): copy it again"),
    ],
    ids=itertools.count(),
)
def test_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidUrl) as failed:
        checked_url(text)
    assert words in str(failed.value)
    assert str(failed.value).startswith("url: ")


def test_the_error_fits_both_doors() -> None:
    with pytest.raises(InvalidUrl) as failed:
        checked_url("ftp://x", "link")
    error = failed.value
    assert isinstance(error, DataError)
    assert isinstance(error, InvalidField)
    assert classify_error(error) is ErrorClass.DATA
    assert (error.field, error.reason) == ("link", "must begin with http:// or https://")


@given(st.text(st.sampled_from(string.printable + "ä\\。１%@[]:.\u200b"), max_size=40))  # noqa: RUF001
@example("//a@b\\c/d")
def test_whatever_passes_is_read_alike_by_others(rest: str) -> None:
    try:
        url = checked_url(f"http://{rest}")
    except InvalidUrl:
        return
    text = str(url)
    other = urlsplit(text)
    assert (other.hostname, other.port or 80) == (url.host, url.port)
    assert text.isascii()
    assert text.isprintable()
    assert not set(text) & set(' \\\r\n\t"<>')
    assert str(checked_url(text)) == text


def test_messages_keep_queries_to_themselves() -> None:
    url = checked_url("https://example.com/a?token=s3cret#x")
    assert url.place == "https://example.com/a"
    assert checked_url(f"https://example.com/{'a' * 200}").place == f"https://example.com/{'a' * 99}..."


def test_without_the_extra() -> None:
    code = """
import sys
for name in ("h11", "httpx", "idna", "protego", "certifi"): sys.modules[name] = None
import asyncio
from forebay.services.egress import checked_url, open_egress, open_http
from forebay.settings import Settings
print(checked_url("http://example.com"))
async def main(opened):
    async with opened: pass
for call in (lambda: checked_url("http://ä.com"), lambda: asyncio.run(main(open_egress(Settings()))),
             lambda: asyncio.run(main(open_http(None)))):
    try: call()
    except Exception as error: print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "http://example.com/",
        "ConfigError host names that are not ASCII need a package: pip install 'forebay[web]'",
        "ConfigError requests to the network need the package h11: pip install 'forebay[web]'",
        "ConfigError requests to the network need the package httpx: pip install 'forebay[web]'",
    ]


def test_there_is_no_other_name() -> None:
    from forebay.services import egress

    assert all(getattr(egress, name) for name in egress.__all__)
    with pytest.raises(AttributeError, match=r"module 'forebay.services.egress' has no attribute 'ingress'"):
        egress.ingress  # noqa: B018
