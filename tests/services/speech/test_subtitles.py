"""Subtitles are read and written: what is written is read again, rolling captions are said once, and whatever strangers
send, the result is bounded."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.errors import DataError
from forebay.services.speech.subtitles import reading
from forebay.services.speech.subtitles.captions import captions
from forebay.services.speech.subtitles.reading import read_subtitles
from forebay.services.speech.subtitles.writing import write
from forebay.services.speech.transcript import Segment, Transcript, Word


def _read(text: str) -> list[tuple[float, float, str]]:
    return [(each.start, each.end, each.text) for each in read_subtitles(text.encode()).segments]


SRT = """1
00:00:01,000 --> 00:00:02,500
<i>Hello</i> {\\an8}there,
you two

2
00:01:02,03 --> 00:01:04,5 X1:10 X2:20
<font color="red">Go!</font> 3 < 4
"""


def test_srt() -> None:
    hello, gone = (1.0, 2.5, "Hello there,\nyou two"), (62.03, 64.5, "Go! 3 < 4")
    assert _read(SRT) == [hello, gone]
    assert _read(SRT.replace("\n", "\r\n")) == [hello, gone]
    assert _read("\ufeff" + SRT.replace("\n\n", "\n")) == [hello, gone]
    assert read_subtitles(SRT.encode("utf-16")).segments == read_subtitles(SRT.encode()).segments
    assert read_subtitles(SRT.replace("Hello", "Grüße").encode("cp1252")).segments[0].text.startswith("Grüße")


def test_vtt() -> None:
    text = """WEBVTT - a film
Kind: captions

STYLE
::cue { color: red }

NOTE a comment --> that is none

intro
00:01.000 --> 00:02.000 align:start position:0%
<v Anna>Fish &amp; chips</v>

00:00:03.000 --> 00:00:05.000
one <00:00:03.500><c> two</c><00:00:04.200><c> three</c>
"""
    found = read_subtitles(text.encode(), "en")
    assert found.language == "en"
    assert [segment.text for segment in found.segments] == ["Fish & chips", "one two three"]
    assert [(word.start, word.end, word.text) for word in found.segments[1].words] == [
        (3.0, 3.5, "one"), (3.5, 4.2, "two"), (4.2, 5.0, "three"),
    ]  # fmt: skip


ROLLING = """WEBVTT

00:00:00.000 --> 00:00:02.000
~
so<00:00:00.400><c> we</c><00:00:00.800><c> begin</c>

00:00:02.000 --> 00:00:02.010
so we begin
~

00:00:02.010 --> 00:00:04.000
so we begin
with<00:00:02.500><c> the</c><00:00:03.000><c> mill</c>

00:00:04.000 --> 00:00:04.010
with the mill
~

00:00:04.010 --> 00:00:06.000
with the mill
with the mill
""".replace("~", " ")


def test_rolling_captions_are_said_once() -> None:
    found = read_subtitles(ROLLING.encode()).segments
    assert [(each.start, each.end, each.text) for each in found] == [
        (0.0, 2.01, "so we begin"), (2.01, 4.01, "with the mill"), (4.01, 6.0, "with the mill"),
    ]  # fmt: skip
    assert [word.text for word in found[1].words] == ["with", "the", "mill"]


def test_what_somebody_says_twice_stays() -> None:
    lines = ["No.", "No.", "Never.", "Why?", "Because."]
    text = "\n".join(f"00:00:0{n},000 --> 00:00:0{n + 1},000\n{line}\n" for n, line in enumerate(lines))
    assert [each[2] for each in _read(text)] == lines


def test_json3() -> None:
    events = [
        {"tStartMs": 0, "dDurationMs": 9000, "id": 1, "wpWinPosId": 1},
        {"tStartMs": 100, "dDurationMs": 4000, "segs": [{"utf8": "so"}, {"utf8": " we", "tOffsetMs": 400}]},
        {"tStartMs": 2000, "dDurationMs": 10, "aAppend": 1, "segs": [{"utf8": "\n"}]},
        {"tStartMs": 2010, "dDurationMs": 1000, "segs": [{"utf8": "begin"}]},
        {"tStartMs": -1, "segs": [{"utf8": "never"}]},
        "nothing",
    ]
    found = read_subtitles(json.dumps({"wireMagic": "pb3", "events": events}).encode()).segments
    assert [(each.start, each.end, each.text) for each in found] == [(0.1, 2.01, "so we"), (2.01, 3.01, "begin")]
    assert [(word.start, word.end, word.text) for word in found[0].words] == [(0.1, 0.5, "so"), (0.5, 2.01, "we")]


def test_timed_text() -> None:
    ttml = """<?xml version="1.0"?><tt xmlns="http://www.w3.org/ns/ttml" ttp:frameRate="25" ttp:tickRate="1000">
      <body><div><p begin="00:00:01.500" end="00:00:02.000">One<br/>two &amp; <span>three</span></p>
      <tt:p begin="2s" dur="500ms">Four</tt:p><p begin="00:00:03:05" end="4000t">Five</p><p>never</p>
      </div></body></tt>"""
    assert _read(ttml) == [(1.5, 2.0, "One\ntwo & three"), (2.0, 2.5, "Four"), (3.2, 4.0, "Five")]
    assert _read('<transcript><text start="1.5" dur="2">It&#39;s</text></transcript>') == [(1.5, 3.5, "It's")]
    assert _read('<timedtext><body><p t="1500" d="500"><s>a</s><s t="10"> b</s></p></body></timedtext>') == [
        (1.5, 2.0, "a b")
    ]


def test_entities_that_a_document_declares_are_not_expanded() -> None:
    laughs = '<!DOCTYPE tt [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    ((_, _, text),) = _read(f'{laughs}<tt><p begin="1s" end="2s">so &b; &f;</p></tt>')
    assert text == "so &b; &f;"


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"{", b"{}", b'{"events": 5}', b"[" * 100_000, b"<tt></tt>", b"\xff\xfe"]
)
def test_what_has_no_subtitles_is_rejected(data: bytes) -> None:
    with pytest.raises(DataError, match=r"^there are no subtitles in this file$"):
        read_subtitles(data)
    with pytest.raises(DataError, match=r"^subtitles may have at most 16 MB$"):
        read_subtitles(b" " * (reading.MAX_BYTES + 1))


def test_long_segments_become_captions_that_can_be_read() -> None:
    said = (
        "This is a first sentence that is spoken. And here is a second one, which is quite a bit longer than that. End."
    )
    words = tuple(Word(start=n, end=n + 0.9, text=word) for n, word in enumerate(said.split()))
    segment = Segment(start=0, end=len(words), text=said, words=words)
    found = list(captions([segment]))
    assert " ".join(each.text for each in found) == said
    assert all(each.end - each.start <= 7 and len(each.text) <= 84 for each in found)
    written = write(Transcript(segments=(segment,)), "srt")
    assert all(len(line) <= 60 for line in written.splitlines())
    chinese = tuple(Word(start=n * 2, end=n * 2 + 2, text=each) for n, each in enumerate("今天天气很好"))
    parts = captions([Segment(start=0, end=12, text="今天天气很好", words=chinese)])
    assert "".join(each.text for each in parts) == "今天天气很好"


def test_text_has_paragraphs() -> None:
    times = [(0, 1, "One."), (1.5, 2, "Two."), (5, 6, "Three.")]
    segments = tuple(Segment(start=start, end=end, text=text) for start, end, text in times)
    assert write(Transcript(segments=segments), "txt") == "One. Two.\nThree.\n"


def test_captions_cannot_end_or_begin_others() -> None:
    text = "one\n\n2\n00:00:09,000 --> 00:00:10,000\ntwo <b>&amp;</b>"
    for form in ("srt", "vtt"):
        written = write(Transcript(segments=(Segment(start=1, end=2, text=text),)), form)
        assert len(read_subtitles(written.encode()).segments) == 1


_LINE = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Sc"), exclude_characters="<>{}&"), min_size=1)


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """Segments in order whose lines differ from each other, with times in milliseconds."""
    count = draw(st.integers(1, 8))
    times = sorted(draw(st.lists(st.integers(0, 900_000_000), min_size=2 * count, max_size=2 * count, unique=True)))
    texts = draw(st.lists(_LINE.filter(lambda line: "-->" not in line), min_size=count, max_size=count, unique=True))
    return Transcript(
        segments=tuple(
            Segment(start=times[2 * n] / 1000, end=times[2 * n + 1] / 1000, text=text) for n, text in enumerate(texts)
        )
    )


@given(transcripts(), st.sampled_from(["srt", "vtt", "json"]))
def test_what_is_written_is_read_again(transcript: Transcript, form: str) -> None:
    written = write(transcript, form)  # type: ignore[arg-type]
    assert read_subtitles(written.encode()) == transcript


_MARKS = [
    "WEBVTT\n", "00:00:01.000 --> 00:00:02.000\n", "1\n", "\n", "<c>", "<00:00:01.500>", "&amp;", '{"events":[', "<tt>",
    '{"tStartMs":1,"segs":[{"utf8":"', "<p begin='1s'", ">", "end='99999999999h'", "<br/>", "</p>", "-->", "\0",
]  # fmt: skip


@given(st.lists(st.sampled_from(_MARKS) | st.text(max_size=20), max_size=40))
def test_whatever_is_read_is_bounded(parts: list[str]) -> None:
    try:
        found = read_subtitles("".join(parts).encode("utf-8", "surrogatepass"))
    except DataError:
        return
    assert 0 < len(found.segments) <= reading.MAX_SEGMENTS
    starts = [segment.start for segment in found.segments]
    assert starts == sorted(starts)
    for segment in found.segments:
        assert 0 <= segment.start <= segment.end <= reading.MAX_S
        assert 0 < len(segment.text) <= reading.MAX_TEXT
        assert "\0" not in segment.text


def test_many_and_long_captions_are_cut() -> None:
    many = "".join(f"00:{n // 3600:02}:00.000 --> 09:00:00.000\n{n}\n\n" for n in range(reading.MAX_SEGMENTS + 10))
    assert len(read_subtitles(many.encode()).segments) == reading.MAX_SEGMENTS
    long = "00:00:01.000 --> 00:00:02.000\n" + "word " * 10_000
    assert len(read_subtitles(long.encode()).segments[0].text) == reading.MAX_TEXT
