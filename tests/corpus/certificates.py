"""Certificates of a certificate authority that only the tests know, good ones and bad ones."""

from __future__ import annotations

import base64
import hashlib
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import serialization

_PAST = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Certificates:
    """Contexts for servers by what is wrong with them, and what makes a client trust the good ones."""

    contexts: dict[str, ssl.SSLContext]
    ca_pem: bytes
    fingerprints: list[str]
    """Of the keys, as Chromium's --ignore-certificate-errors-spki-list takes them: those that it shall trust."""


@cache
def certificates(*hosts: str) -> Certificates:
    ours, unknown = trustme.CA(), trustme.CA()
    good = ours.issue_cert(*hosts)
    made = {
        "good": good,
        "expired": ours.issue_cert(*hosts, not_before=datetime(2019, 1, 1, tzinfo=UTC), not_after=_PAST),
        "other-host": ours.issue_cert("elsewhere.example"),
        "unknown": unknown.issue_cert(*hosts),
    }
    return Certificates(
        {name: _context(leaf) for name, leaf in made.items()}, ours.cert_pem.bytes(), [_fingerprint(good)]
    )


def _context(leaf: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf.configure_cert(context)
    return context


def _fingerprint(leaf: trustme.LeafCert) -> str:
    certificate = x509.load_pem_x509_certificate(leaf.cert_chain_pems[0].bytes())
    key = certificate.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return base64.b64encode(hashlib.sha256(key).digest()).decode()
