"""Translates load errors of Chromium to errors of steps."""

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
    "net::ERR_INVALID_REDIRECT": "it redirects to an invalid URL",
    "net::ERR_UNSAFE_REDIRECT": "it redirects to an address that no browser follows",
    "net::ERR_UNKNOWN_URL_SCHEME": "it redirects to an address that no browser follows",
    "net::ERR_UNSAFE_PORT": "browsers do not connect to that port",
    "net::ERR_INVALID_URL": "browsers do not support that URL",
    "net::ERR_INVALID_RESPONSE": "its server does not speak HTTP",
    "net::ERR_INVALID_HTTP_RESPONSE": "its server does not speak HTTP",
    "net::ERR_RESPONSE_HEADERS_TOO_BIG": "its server sends too many headers",
    "net::ERR_CONTENT_DECODING_FAILED": "its content cannot be decompressed",
    "net::ERR_SSL_PROTOCOL_ERROR": "its server does not support the TLS versions of browsers",
    "net::ERR_SSL_VERSION_OR_CIPHER_MISMATCH": "its server supports only old versions of TLS",
    "net::ERR_CERT_COMMON_NAME_INVALID": "its certificate is for another host",
    "net::ERR_CERT_DATE_INVALID": "its certificate has expired, or is not valid yet",
    "net::ERR_CERT_AUTHORITY_INVALID": "its certificate is not signed by a trusted authority",
    "net::ERR_CERT_REVOKED": "its certificate was revoked",
}


def load_error(url: str, text: str, grant: Grant) -> StepError:
    """The error for a URL that could not be loaded; a refusal of the SSRF guard is reported as such."""
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
    """Why the proxy could not reach the host of a URL, if that was the cause."""
    try:
        place = checked_url(url)
    except InvalidUrl:
        return None
    failed = grant.failures.get(place.host)
    return guard_error(place, 502, failed.code, failed.reason) if failed else None


def refusal(url: str, grant: Grant) -> Refused | None:
    """The refusal of the SSRF guard for the host of a URL."""
    try:
        host = checked_url(url).host  # the form in refusals
    except InvalidUrl:
        return None
    found = next((each for each in grant.refusals if each.host == host or not each.host), None)
    return Refused(found.code, found.reason) if found else None
