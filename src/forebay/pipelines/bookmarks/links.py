"""Normalizes links to find duplicates."""

from __future__ import annotations

import hashlib
import posixpath
import re
from urllib.parse import parse_qsl, quote, unquote_to_bytes, urlencode, urlsplit

# Tracking parameters: the page is the same without them.
_TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|li_fat_id|igshid|igsh|mc_cid|mc_eid"
    r"|_ga|_gl|_hsenc|_hsmi|__hstc|__hssc|hsctatracking|mkt_tok|vero_id|oly_anon_id|oly_enc_id|wickedid|s_cid|ref_src",
    re.IGNORECASE,
)
_PORTS = {"http": 80, "https": 443}
_KEPT = "!$&'()*+,;=:@/~-._"  # in a path, these characters mean the same whether or not they are escaped


def page_key(url: str) -> str:
    """The same text for links to the same page.

    Scheme, default port, fragments that are not routes, tracking parameters and the order of parameters are ignored.
    """
    parts = urlsplit(url.strip())
    host = (parts.hostname or "").rstrip(".")
    port = "" if parts.port in (None, _PORTS.get(parts.scheme)) else f":{parts.port}"
    asked = [
        (name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.fullmatch(name)
    ]
    query = f"?{urlencode(sorted(asked))}" if asked else ""
    fragment = f"#{parts.fragment}" if parts.fragment.startswith(("!", "/")) else ""
    return f"{host}{port}{_path(parts.path)}{query}{fragment}"


def _path(path: str) -> str:
    plain = quote(unquote_to_bytes(path), safe=_KEPT)
    if not plain.startswith("/"):
        return f"/{plain}"
    tidy = posixpath.normpath(re.sub("/{2,}", "/", plain))
    return f"{tidy}/" if plain.endswith("/") and tidy != "/" else tidy


def page_hash(url: str) -> bytes:
    """The hash by which the database finds duplicates."""
    return hashlib.sha256(page_key(url).encode("utf-8", "surrogatepass")).digest()


_IMAGE = re.compile(r"\.(?:png|jpe?g|gif|webp|avif|bmp|tiff?|ico)", re.IGNORECASE)


def looks_like_image(url: str) -> bool:
    """Whether a link seems to lead to an image, judged by its path; `File:Mill.jpg` is a page about one."""
    name = posixpath.basename(urlsplit(url).path)
    return ":" not in name and _IMAGE.fullmatch(posixpath.splitext(name)[1]) is not None
