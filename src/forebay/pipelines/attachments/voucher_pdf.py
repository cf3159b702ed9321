"""Writes a voucher as PDF; in a child process, because the texts are a sender's, and to lay them out takes time."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape

from forebay.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

MISSING = "vouchers need a package that is not installed: pip install 'forebay[attachments]'"
NEEDS = ("reportlab",)
_PACKAGED = ("zhplot", "fonts/NotoSansSC-Regular.ttf")
_BUILT_IN = "STSong-Light"  # not embedded: readers need a Chinese font of their own
_MARGIN = 42.0
_GREY, _RED = "#666666", "#b00020"


class VoucherFile(NamedTuple):
    """A line of the voucher."""

    name: str
    status: str
    size: str
    sha256: str
    about: str  # the media type and the time, or the error


class VoucherText(NamedTuple):
    """What a voucher says."""

    title: str
    subtitle: str
    note: str  # about files that are missing; empty: none is
    facts: Sequence[tuple[str, str]]
    files: Sequence[VoucherFile]


def write_pdf(text: VoucherText, font: Path | None) -> bytes:
    """The voucher. The same text makes the same bytes.

    Raises: ConfigError if a package is missing.
    """
    try:
        from reportlab.lib.pagesizes import A4  # noqa: PLC0415 - an extra
        from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(MISSING) from error
    style = _Styles(_font(font))
    story: list[Any] = [Paragraph(escape(text.title), style.title), Paragraph(escape(text.subtitle), style.small)]
    if text.note:
        story.append(Paragraph(escape(text.note), style.warning))
    if text.facts:
        story += [Spacer(1, 10), style.table([[*pair] for pair in text.facts], [0.28, 0.72])]
    story += [Spacer(1, 14), Paragraph("Files", style.heading), Spacer(1, 4)]
    rows = [["#", "Name", "Status", "Size", "SHA-256"]]
    rows += [
        [str(at), f"{each.name}\n{each.about}", each.status, each.size, each.sha256]
        for at, each in enumerate(text.files, 1)
    ]
    story.append(style.table(rows, [0.05, 0.36, 0.15, 0.12, 0.32], header=True))
    made = BytesIO()
    document = SimpleDocTemplate(
        made, pagesize=A4, title=text.title, leftMargin=_MARGIN, rightMargin=_MARGIN, invariant=1, pageCompression=1
    )
    document.build(story)
    return made.getvalue()


class _Styles:
    """Paragraphs and tables in one font, whose lines may break between any two Chinese characters."""

    def __init__(self, font: str) -> None:
        from reportlab.lib.styles import ParagraphStyle  # noqa: PLC0415 - an extra

        def style(name: str, size: float, **more: Any) -> Any:
            return ParagraphStyle(name, fontName=font, fontSize=size, leading=size * 1.35, wordWrap="CJK", **more)

        self.title, self.heading = style("title", 16, spaceAfter=4), style("heading", 11)
        self.small, self.cell = style("small", 8, textColor=_GREY), style("cell", 7.5)
        self.warning = style("warning", 9, textColor=_RED, spaceBefore=6)

    def table(self, rows: list[list[str]], shares: Sequence[float], *, header: bool = False) -> Any:
        from reportlab.lib.pagesizes import A4  # noqa: PLC0415 - an extra
        from reportlab.platypus import LongTable, Paragraph  # noqa: PLC0415

        width = A4[0] - 2 * _MARGIN - 12
        cells = [[Paragraph(escape(text).replace("\n", "<br/>"), self.cell) for text in row] for row in rows]
        lines: list[Any] = [("LINEBELOW", (0, 0), (-1, -1), 0.25, "#cccccc"), ("VALIGN", (0, 0), (-1, -1), "TOP")]
        if header:
            lines.append(("BACKGROUND", (0, 0), (-1, 0), "#f0f0f0"))
        return LongTable(cells, [share * width for share in shares], repeatRows=int(header), style=lines, splitInRow=1)


@cache
def _font(given: Path | None) -> str:
    """The name of the font: the given one, that of a package, or one that PDF readers bring."""
    from reportlab.pdfbase import pdfmetrics  # noqa: PLC0415 - an extra

    path = given or packaged_font()
    if path is None:
        from reportlab.pdfbase.cidfonts import UnicodeCIDFont  # noqa: PLC0415

        pdfmetrics.registerFont(UnicodeCIDFont(_BUILT_IN))  # pyright: ignore[reportUnknownMemberType]
        return _BUILT_IN
    from reportlab.pdfbase.ttfonts import TTFError, TTFont  # noqa: PLC0415

    try:
        pdfmetrics.registerFont(TTFont("voucher", str(path)))  # pyright: ignore[reportUnknownMemberType]
    except (TTFError, OSError) as error:
        raise ConfigError(f"FOREBAY_ATTACHMENTS_FONT is not a TrueType font: {error}") from None
    return "voucher"


def packaged_font() -> Path | None:
    """Noto Sans SC, which a package brings; the package itself is not imported."""
    package, file = _PACKAGED
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations if spec is not None else None) or ():
        if (path := Path(folder) / file).is_file():
            return path
    return None
