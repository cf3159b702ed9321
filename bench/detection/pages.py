"""What pages say about themselves: title, author, site, language, day of publication, and the text to be read."""

import gzip
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from bench.detection.score import Corpora, Score
from forebay.services.pages import PageFacts, read_page

_READABILITY, _TRAFILATURA, _ARTICLES = "readability", "trafilatura", "article-extraction-benchmark"
_SHINGLE = 4  # words
_TRUTH = "ground-truth.json"


def measure(corpora: Corpora) -> list[Score]:
    """Read every page of which the file is there, and compare."""
    cases = json.loads((corpora.cases / "pages" / "cases.json").read_text(encoding="utf-8"))
    read = [(case, _read(case, html)) for case in cases if (html := _html(corpora, case)) is not None]
    first = [(case, facts) for case, facts in read if case["source"] == _READABILITY]
    dated = [(case, facts) for case, facts in first if case["published"]]
    second = [(case, facts) for case, facts in read if case["source"] == _TRAFILATURA]
    texts = [(case, facts) for case, facts in read if case["source"] == _ARTICLES]
    return [
        _share("title (readability's)", first, _title, near=False, bar=0.90, aim=0.95),
        _share("title with the site's name (readability's)", first, _strict_title, near=False),
        _share("author (readability's)", first, _author, near=False, bar=0.80, aim=0.90),
        # Where readability's tests have no date, readability does not look: most of those pages show one.
        _share("published (readability's), where it is told", dated, _published, near=False, bar=0.88, aim=0.92),
        _share("published (readability's), also none where it has none", first, _published, near=False),
        _share("site (readability's)", first, _site, near=False),
        _share("language (readability's)", first, _language, near=False),
        _share("title, right or near (trafilatura's)", second, _title, near=True, bar=0.85, aim=0.90),
        _share("author, right or near (trafilatura's)", second, _author, near=True, bar=0.65, aim=0.75),
        _share("published, right or near (trafilatura's)", second, _published, near=True, bar=0.80, aim=0.88),
        *_text(corpora, texts),
    ]


_Case = dict[str, str | None]
_Read = list[tuple[_Case, PageFacts]]


def _html(corpora: Corpora, case: _Case) -> bytes | None:
    found = corpora.source_file(str(case["repo"]), str(case["path"]))
    return gzip.decompress(found) if found is not None and str(case["path"]).endswith(".gz") else found


def _read(case: _Case, html: bytes) -> PageFacts:
    return read_page(html, str(case["url"]).strip(), None, 200)


def _share(
    what: str,
    read: _Read,
    verdict: Callable[[_Case, PageFacts], str],
    *,
    near: bool,
    bar: float | None = None,
    aim: float | None = None,
) -> Score:
    good = {"right", "near"} if near else {"right"}
    return Score(what, sum(verdict(case, facts) in good for case, facts in read), len(read), bar, aim)


# Each verdict is "right", "near", "wrong", or "missing"; a value where none is expected is wrong.


def _title(case: _Case, facts: PageFacts) -> str:
    """Right, too: all but the name of the site, which we take off and one of the sets does not."""
    wanted, given, site = _words(case["title"]), _words(facts.title), _words(case["site"])
    rest = wanted.removeprefix(given).strip()
    return "right" if given and rest and site.startswith(rest) else _strict_title(case, facts)


def _strict_title(case: _Case, facts: PageFacts) -> str:
    return _compared(case["title"], facts.title)


def _author(case: _Case, facts: PageFacts) -> str:
    """The same names are right, whatever is written before and between them."""
    return _compared(_names(case["author"]), _names(facts.author))


def _names(text: str | None) -> str:
    plain = re.sub(r"^\W*(?:by|par|von|written by)\s+", "", (text or "").strip(), flags=re.IGNORECASE)
    return re.sub(r"\s*(?:[,;&/]|\b(?:and|und|et|y)\b)\s*", ", ", plain)


def _site(case: _Case, facts: PageFacts) -> str:
    return _compared(case["site"], facts.site)


def _language(case: _Case, facts: PageFacts) -> str:
    wanted, found = (case.get("language") or "").lower(), (facts.language or "").lower()
    return "right" if wanted.replace("_", "-") == found else "wrong"


def _published(case: _Case, facts: PageFacts) -> str:
    wanted, found = _day(case["published"]), facts.published
    if wanted is None or found is None:
        return "right" if wanted is None and found is None else "missing" if found is None else "wrong"
    apart = abs(wanted.date() - found.astimezone(wanted.tzinfo).date())
    return "right" if not apart else "near" if apart <= timedelta(days=1) else "wrong"


def _compared(wanted: str | None, found: str | None) -> str:
    """Right: the same words. Near: one has the words of the other, and more."""
    expected, given = _words(wanted), _words(found)
    if expected == given:
        return "right"
    if not given:
        return "missing"
    return "near" if expected and (expected in given or given in expected) else "wrong"


def _words(text: str | None) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text or "").casefold()))


def _day(text: str | None) -> datetime | None:
    if not text:
        return None
    day = datetime.fromisoformat(re.sub(r"^(\d{4}-\d\d-\d\d)$", r"\1T00:00", text.strip()))
    return day if day.tzinfo else day.replace(tzinfo=UTC)


# The text: 4-word shingles of ours against those of the text that people have marked.


def _text(corpora: Corpora, read: _Read) -> list[Score]:
    """Shingles that both have, of all of either (twice what F1 divides), where the marked texts are there."""
    found = corpora.source_file("scrapinghub+article-extraction-benchmark", _TRUTH)
    if found is None:
        return []
    truth = json.loads(found)
    pairs = [(_shingles(truth[_key(case)]["articleBody"]), _shingles(facts.text)) for case, facts in read]
    f1 = [2 * (ours & theirs).total() / max(1, ours.total() + theirs.total()) for theirs, ours in pairs]
    return [Score("text, F1 of 4-word shingles", round(1000 * sum(f1) / max(1, len(f1))), 1000, bar=0.95)]


def _key(case: _Case) -> str:
    return str(case["path"]).removeprefix("html/").removesuffix(".html.gz")


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _words(text).split()
    return Counter(tuple(words[at : at + _SHINGLE]) for at in range(max(1, len(words) - _SHINGLE + 1)))
