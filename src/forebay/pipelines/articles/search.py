"""Articles in the index of all searches: put there when they are saved. A chore queues those without vectors."""

from __future__ import annotations

from forebay.hooks import SearchKind, SearchSource
from forebay.pipelines.articles.texts import without_marks

SEARCH = SearchSource((SearchKind("article", "Articles", "/articles/{ref}", plain=without_marks),))
