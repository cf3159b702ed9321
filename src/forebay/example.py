"""The built-in example: counts the words of texts, computes fingerprints, and measures readability.

    count ∥ fingerprint → readability → (when all texts are done) summary

`forebay up` runs it on about three hundred generated texts; one of them is deliberately invalid.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
from collections.abc import Iterator

from pydantic import BaseModel

from forebay import Context, Pipeline
from forebay.errors import DataError
from forebay.types import JobSummary

# Counting takes microseconds. This pause represents the slow service that a real step would call: without it, the demo
# would end before anyone could watch it.
_PRETENDED_SECONDS = 0.15

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")  # noqa: RUF001 - the typographic apostrophe
_SENTENCE_END = re.compile(r"[.!?]+(?:\s|$)")
_VOWELS = re.compile(r"[aeiouy]+", re.IGNORECASE)


class Text(BaseModel):
    """One text."""

    title: str
    body: str


class TextCounts(BaseModel):
    words: int
    sentences: int
    syllables: int


class Readability(BaseModel):
    ease: float
    level: str
    sha256: str


texts = Pipeline("texts", Text, noun="text")


@texts.step(concurrency=(1, 4))
async def count(ctx: Context, text: Text) -> TextCounts:
    """Count words, sentences and, approximately, syllables."""
    await asyncio.sleep(_PRETENDED_SECONDS)
    words = _WORD.findall(text.body)
    if not words:
        raise DataError(f"{text.title!r} has no words in its body: write some and submit it again")
    sentences = max(1, len(_SENTENCE_END.findall(text.body)))
    return TextCounts(words=len(words), sentences=sentences, syllables=sum(map(_syllables, words)))


def _syllables(word: str) -> int:
    groups = len(_VOWELS.findall(word))
    silent = word.lower().endswith("e") and groups > 1
    return max(1, groups - silent)


@texts.step(kind="thread")
def fingerprint(ctx: Context, text: Text) -> str:
    """The SHA-256 of the body: equal texts have equal fingerprints."""
    return hashlib.sha256(text.body.encode()).hexdigest()


@texts.step(after=(count, fingerprint))
async def readability(ctx: Context, text: Text, counts: TextCounts, sha256: str) -> Readability:
    """The Flesch reading ease: about 100 for a children's book, below 30 for a contract."""
    ease = 206.835 - 1.015 * counts.words / counts.sentences - 84.6 * counts.syllables / counts.words
    level = "easy" if ease >= 70 else "plain" if ease >= 50 else "hard"
    return Readability(ease=round(ease, 1), level=level, sha256=sha256)


@texts.after_all()
async def summary(ctx: Context, job: JobSummary) -> dict[str, int]:
    """The totals of all texts of the job."""
    totals = {"texts": job.done, "failed": job.error, "words": 0, "sentences": 0}
    async for item in ctx.items():
        counts = item.result.get("count")
        if counts:
            totals["words"] += counts["words"]
            totals["sentences"] += counts["sentences"]
    return totals


# The texts of the demo: sentences from a small grammar, the same on every machine.

_WHO = ("the miller", "a heron", "the night shift", "my neighbour", "the old turbine", "a patient clerk", "the river")
_DOES = ("watches", "repairs", "forgets", "measures", "carries", "questions", "announces", "collects")
_WHAT = ("the gate", "a quiet afternoon", "seventeen crates", "the spring flood", "every open letter", "the ledger")
_HOW = ("before breakfast", "without hurry", "in spite of the rain", "twice a week", "with remarkable precision", "")
_THEMES = ("Water", "Work", "Waiting", "Weather", "Rust", "Bread", "Bridges", "Clocks")


def demo_texts(count: int = 300, *, seed: int = 1) -> Iterator[Text]:
    """Short generated texts; the one in the middle has an empty body, to show a dead letter."""
    dice = random.Random(seed)  # noqa: S311 - not for security
    for number in range(1, count + 1):
        title = f"{dice.choice(_THEMES)}, no. {number}"
        yield Text(title=title, body=" ".join(_sentence(dice) for _ in range(dice.randint(2, 7))))
        if number == count // 2:
            yield Text(title="An empty page", body="")


def _sentence(dice: random.Random) -> str:
    words = " ".join(dice.choice(part) for part in (_WHO, _DOES, _WHAT, _HOW)).strip()
    return f"{words[0].upper()}{words[1:]}{dice.choice('...!?')}"
