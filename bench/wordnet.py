"""A labelled set for searches, made of WordNet 3.0, which Debian's package `wordnet-base` has.

A document is a synset of nouns: its first word is the title, its gloss the text. A question is another word of a
synset, one that the title does not have. Judgements follow the relations of WordNet: 3 the synset itself, 2 what it is
a kind of and the kinds of it, 1 other kinds of the same thing. Nothing of WordNet is part of forebay.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import log2
from pathlib import Path

FOLDER = Path("/usr/share/wordnet")
INSTALL = "apt install wordnet-base"


@dataclass(frozen=True)
class Synset:
    key: str
    words: tuple[str, ...]
    gloss: str
    above: tuple[str, ...]
    below: tuple[str, ...]


@dataclass(frozen=True)
class Judged:
    """A question, and the grades of the documents that are relevant."""

    text: str
    grades: dict[str, int]


def read(kind: str = "noun") -> dict[str, Synset]:
    """The synsets of a part of speech, by key.

    Raises: FileNotFoundError that says what to install.
    """
    file = FOLDER / f"data.{kind}"
    if not file.exists():
        raise FileNotFoundError(f"{file} is missing: {INSTALL}")
    found = (_synset(line, kind) for line in file.read_text("utf-8").splitlines() if not line.startswith(" "))
    return {synset.key: synset for synset in found}


def _synset(line: str, kind: str) -> Synset:
    data, _, gloss = line.partition(" | ")
    fields = data.split()
    count = int(fields[3], 16)
    words = tuple(fields[4 + 2 * n].replace("_", " ").partition("(")[0] for n in range(count))
    pointers = fields[5 + 2 * count :]
    above, below = list[str](), list[str]()
    for place in range(0, 4 * int(fields[4 + 2 * count]), 4):
        symbol, offset, part = pointers[place : place + 3]
        if part == "n" and symbol in {"@", "~"}:
            (above if symbol == "@" else below).append(f"noun {offset}")
    return Synset(f"{kind} {fields[0]}", words, gloss.strip(), tuple(above), tuple(below))


def labelled(documents: int, questions: int) -> tuple[list[Synset], list[Judged], list[Judged]]:
    """So many documents, or as many as the questions need; questions that weights are chosen on, and as many that
    nobody has looked at; always the same."""
    synsets, rng = read(), random.Random(16)
    able = [each for each in synsets.values() if _question(each) and len(each.below) >= 3 and each.above]
    chosen = rng.sample(sorted(able, key=lambda each: each.key), questions)
    seen = {each.key for each in chosen}
    held_out = random.Random(2026).sample([each for each in able if each.key not in seen], questions)
    asked, judged = (
        [Judged(_question(each) or "", _grades(each, synsets)) for each in part] for part in (chosen, held_out)
    )
    keys = {key for question in (*asked, *judged) for key in question.grades}
    others = sorted(synsets.keys() - keys)
    keys |= set(rng.sample(others, max(0, documents - len(keys))))
    return [synsets[key] for key in sorted(keys)], asked, judged


def _question(synset: Synset) -> str | None:
    """A word that neither the title nor the gloss has."""
    known = f"{synset.words[0]} {synset.gloss}".lower()
    return next((word for word in synset.words[1:] if word.lower() not in known), None)


def _grades(synset: Synset, synsets: dict[str, Synset]) -> dict[str, int]:
    sisters = {key for above in synset.above for key in synsets[above].below}
    return dict.fromkeys(sorted(sisters)[:30], 1) | dict.fromkeys((*synset.above, *synset.below), 2) | {synset.key: 3}


def ndcg(found: list[str], grades: dict[str, int], most: int = 10) -> float:
    """The normalised discounted cumulative gain of the first hits."""

    def gain(values: list[int]) -> float:
        return sum(float(2**value - 1) / log2(place + 2) for place, value in enumerate(values[:most]))

    best = gain(sorted(grades.values(), reverse=True))
    return gain([grades.get(key, 0) for key in found]) / best if best else 0.0
