"""Allowlists, denylists, ports and networks."""

# demands: S1-112

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import pytest
from pydantic import ValidationError

from forebay.services.egress import InvalidUrl, Limits, Policy, Refused, allowed_url, checked_url
from forebay.settings import Settings

HINT = "FOREBAY_EGRESS_ALLOW_NETWORKS can allow private networks"


def policy(**settings: Any) -> Policy:
    return Policy.of(Settings(**{f"egress_{name}": value for name, value in settings.items()}))


def refusal(policy: Policy, url: str) -> str | None:
    try:
        policy.check_url(checked_url(url))
    except Refused as refused:
        return f"{refused.code}: {refused.reason}"
    return None


def test_all_public_hosts_on_the_usual_ports() -> None:
    usual = policy()
    for url in ("http://example.com", "https://example.com:8443", "http://1.1.1.1", "https://[2606:4700::1111]"):
        assert refusal(usual, url) is None
    assert refusal(usual, "http://example.com:25") == "port: port 25 of example.com is not in FOREBAY_EGRESS_PORTS"
    assert refusal(usual, "http://127.0.0.1") == f"address: 127.0.0.1 is this machine; {HINT}"
    assert refusal(usual, "http://[::ffff:10.0.0.1]") == f"address: 10.0.0.1 is private; {HINT}"


def test_only_some_hosts() -> None:
    some = policy(allow_hosts="example.com, *.Example.org.")
    assert refusal(some, "http://example.com") is None
    assert refusal(some, "http://a.b.example.org") is None
    for other in ("example.org", "badexample.org", "a.example.com", "example.com.evil.test"):
        words = f"host_not_allowed: {other} is not in FOREBAY_EGRESS_ALLOW_HOSTS"
        assert refusal(some, f"http://{other}/") == words


def test_all_but_some_hosts() -> None:
    most = policy(deny_hosts="*.example.com,1.1.1.1", allow_hosts="a.example.com,1.1.1.1,b.test")
    assert refusal(most, "http://a.example.com") == "denied_host: a.example.com is in FOREBAY_EGRESS_DENY_HOSTS"
    assert refusal(most, "http://1.1.1.1") == "denied_host: 1.1.1.1 is in FOREBAY_EGRESS_DENY_HOSTS"
    assert refusal(most, "http://b.test") is None


def test_an_allowed_host_is_still_judged_by_its_address() -> None:
    assert refusal(policy(allow_hosts="10.0.0.1"), "http://10.0.0.1") == f"address: 10.0.0.1 is private; {HINT}"
    assert refusal(policy(allow_networks="10.0.0.0/8"), "http://10.0.0.1") is None


def test_one_bad_address_condemns_a_name() -> None:
    good, bad = ip_address("1.1.1.1"), ip_address("::1")
    policy().check_addresses("a.test", [good])
    with pytest.raises(Refused) as refused:
        policy().check_addresses("a.test", [good, bad])
    assert refused.value.reason == f"a.test has no public address; {HINT}"
    assert refused.value.logged == "a.test resolves to ::1, which is this machine"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("egress_ports", "80,http", "'http' is neither a port nor a range such as 8000-8999"),
        ("egress_ports", "90-80", "'90-80' is neither a port nor a range"),
        ("egress_ports", "0", "is neither a port nor a range"),
        ("egress_ports", "70000", "is neither a port nor a range"),
        ("egress_allow_networks", "10.0.0.0/99", "does not appear to be an IPv4 or IPv6 network"),
    ],
)
def test_settings_that_mean_nothing(name: str, value: str, words: str) -> None:
    values: dict[str, Any] = {name: value}
    with pytest.raises(ValidationError, match=words):
        Settings(**values)


def test_limits_come_from_the_settings() -> None:
    limits = Limits.of(Settings(egress_max_bytes=7, egress_idle_s=8, egress_total_s=9, egress_connect_s=10))
    assert (limits.bytes_down, limits.idle_s, limits.total_s, limits.connect_s) == (7, 8, 9, 10)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://127.0.0.1/", "127.0.0.1 is this machine; FOREBAY_EGRESS_ALLOW_NETWORKS can allow private networks"),
        ("http://192.168.1.7/a", "192.168.1.7 is private; FOREBAY_EGRESS_ALLOW_NETWORKS can allow private networks"),
        (
            "http://localhost:8000/",
            "localhost has no public address; FOREBAY_EGRESS_ALLOW_NETWORKS can allow private networks",
        ),
        ("http://example.com:25/", "port 25 of example.com is not in FOREBAY_EGRESS_PORTS"),
    ],
)
def test_what_is_refused_at_the_door(url: str, why: str) -> None:
    with pytest.raises(InvalidUrl) as refused:
        allowed_url(url, policy())
    assert (refused.value.field, refused.value.reason) == ("url", why)


def test_what_passes_the_door() -> None:
    assert (
        str(allowed_url("https://intranet.example/", policy())) == "https://intranet.example/"
    )  # the DNS is not asked
    home = policy(allow_networks="127.0.0.0/8,192.168.0.0/16")
    assert allowed_url("http://localhost/", home).host == "localhost"
    assert allowed_url("http://192.168.1.7/", home).host == "192.168.1.7"
