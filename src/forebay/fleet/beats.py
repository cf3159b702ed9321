"""The signs of life of a runner, each small enough for one message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_core import to_json

from forebay.fleet.port import BUNDLE_BYTES, Beat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from forebay.fleet.port import HeldOffer

_OFFER_BYTES = 100  # at most, without its texts and tokens
_TOKEN_BYTES = 24


def beats_of(runner: str, held: Sequence[HeldOffer], *, slots: Mapping[str, int] | None = None) -> Iterator[Beat]:
    """At least one beat; the first one says the slots."""
    some: list[HeldOffer] = []
    left = BUNDLE_BYTES // 2
    for offer in held:
        left -= _bytes(offer)
        if some and left < 0:
            yield Beat(runner, slots=slots, held=tuple(some))
            some, slots, left = [], None, BUNDLE_BYTES // 2 - _bytes(offer)
        some.append(offer)
    yield Beat(runner, slots=slots, held=tuple(some))


def _bytes(offer: HeldOffer) -> int:
    progress = 0 if offer.progress is None else len(to_json(offer.progress))
    return _OFFER_BYTES + len(offer.id) + len(offer.dispatcher) + _TOKEN_BYTES * len(offer.tokens) + progress
