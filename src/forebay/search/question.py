"""Parses what a user types: words, "phrases" and -exclusions."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PART = re.compile(r'(?P<not>-)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')
_LETTERS = re.compile(r"[^\W_]", re.UNICODE)
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Question:
    """`words` is what a document should have or mean, phrases included; `phrases` is what it must have, `excluded` what
    it must not have, both as `websearch_to_tsquery` reads them; empty: nothing."""

    words: str
    phrases: str = ""
    excluded: str = ""

    @property
    def single_words(self) -> list[str]:
        """The words that may have typing errors: those outside of phrases are letters only, and not short."""
        return [word for word in self.words.lower().split() if len(word) >= 4 and word.isalpha()]

    def corrected(self, similar: dict[str, str]) -> Question | None:
        """With other words instead of these; None if it has none of them, or a phrase, which is meant as it is."""
        parts = [similar.get(word.lower(), word) for word in self.words.split()]
        words = " ".join(parts)
        return None if self.phrases or words == self.words else Question(words, self.phrases, self.excluded)


def parse(text: str) -> Question:
    words: list[str] = []
    phrases: list[str] = []
    excluded: list[str] = []
    for part in _PART.finditer(text.replace("\0", " ")[:_LONGEST]):
        found = " ".join((part["phrase"] if part["phrase"] is not None else part["word"]).split())
        if not _LETTERS.search(found):
            continue
        if part["not"]:
            excluded.append(f'"{found}"')
        else:
            words.append(found)
            if part["phrase"] is not None:
                phrases.append(f'"{found}"')
    return Question(" ".join(words), " ".join(phrases), " or ".join(excluded))
