"""What articles can do on this machine."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from forebay.pipelines.articles.settings import ArticlesSettings

if TYPE_CHECKING:
    from forebay.settings import Settings


def features(settings: Settings) -> dict[str, bool]:
    return {
        "articles": find_spec("markdown_it") is not None and find_spec("nh3") is not None,
        "article_queue": settings.of(ArticlesSettings).enabled,
    }
