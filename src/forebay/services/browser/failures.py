"""What Chromium says when it cannot load something, as errors for steps."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from forebay.errors import PermanentError, StepError, TransientError
from forebay.services.egress import InvalidUrl, Refused, checked_url
from forebay.services.egress.pools import guard_error

if TYPE_CHECKING:
    from forebay.services.egress import Grant

_PERMANENT = {
    "net::ERR_TOO_MANY_REDIRECTS": "it redirects in circles",
    "net::ERR_INVALID_REDIRECT": "it redirects to an address that is none",
    "net::ERR_UNSAFE_REDIRECT": "it redirects to an address that no browser follows",
    "net::ERR_UNKNOWN_URL_SCHEME": "it redirects to an address that no browser follows",
    "net::ERR_UNSAFE_PORT": "browsers do not go to that port",
    "net::ERR_INVALID_URL": "browsers do not understand that address",
    "net::ERR_INVALID_RESPONSE": "its server does not speak HTTP",
    "net::ERR_INVALID_HTTP_RESPONSE": "its server does not speak HTTP",
    "net::ERR_RESPONSE_HEADERS_TOO_BIG": "its server sends headers without end",
    "net::ERR_CONTENT_DECODING_FAILED": "it is packed in a way that cannot be unpacked",
    "net::ERR_SSL_PROTOCOL_ERROR": "its server does not speak TLS as browsers do",
    "net::ERR_SSL_VERSION_OR_CIPHER_MISMATCH": "its server speaks only old versions of TLS",
    "net::ERR_CERT_COMMON_NAME_INVALID": "its certificate is for another host",
    "net::ERR_CERT_DATE_INVALID": "its certificate has expired, or is not valid yet",
    "net::ERR_CERT_AUTHORITY_INVALID": "its certificate comes from nobody who is trusted",
    "net::ERR_CERT_REVOKED": "its certificate was revoked",
}


def load_error(url: str, text: str, grant: Grant) -> StepError:
    """Why an address could not be loaded: in the guard's words where it was the guard."""
    told = refusal(url, grant) or unreached(url, grant)
    if told is not None:
        return told
    host = urlsplit(url).hostname or url
    if text in _PERMANENT:
        return PermanentError(f"{host} cannot be shown: {_PERMANENT[text]}")
    if text.startswith(("net::ERR_CERT", "net::ERR_SSL")):
        return PermanentError(f"{host} cannot be shown: its TLS is broken ({text.removeprefix('net::')})")
    return TransientError(f"{host} cannot be loaded: {text.removeprefix('net::') or 'no reason given'}")


def unreached(url: str, grant: Grant) -> StepError | None:
    """What kept the guard from reaching the host of an address: there is none, it does not answer, and so on."""
    try:
        place = checked_url(url)
    except InvalidUrl:
        return None
    failed = grant.failures.get(place.host)
    return guard_error(place, 502, failed.code, failed.reason) if failed else None


def refusal(url: str, grant: Grant) -> Refused | None:
    """What the guard said about the host of an address."""
    try:
        host = checked_url(url).host  # as the guard writes it
    except InvalidUrl:
        return None
    found = next((each for each in grant.refusals if each.host == host or not each.host), None)
    return Refused(found.code, found.reason) if found else None
