"""What articles need, in `forebay doctor`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from forebay.hooks import Finding
from forebay.pipelines.articles.rendering import MISSING
from forebay.pipelines.articles.settings import ArticlesSettings

if TYPE_CHECKING:
    from forebay.settings import Settings

_ABOUT = "articles"


async def check(settings: Settings) -> list[Finding]:
    """Whether Markdown can be shown, and how articles are embedded; whether the model works is said of the search."""
    if find_spec("markdown_it") is None or find_spec("nh3") is None:
        return [Finding("WARN", _ABOUT, "articles cannot be shown as HTML", MISSING)]
    own = settings.of(ArticlesSettings)
    how = "one at a time" if own.sequential else f"up to {own.batch_size} together"
    return [Finding("OK", _ABOUT, f"embedded {'in the background, ' + how if own.enabled else 'before each response'}")]
