"""The kinds of bookmarks, for requests and queries."""

from __future__ import annotations

from typing import Literal, TypeAlias

BookmarkKind: TypeAlias = Literal["page", "pdf", "image", "file", "login", "captcha", "error"]
