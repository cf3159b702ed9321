"""The kinds and states of shares."""

from __future__ import annotations

from typing import Literal, TypeAlias

ShareKind: TypeAlias = Literal["video", "audio", "image", "playlist", "file"]
DownloadStatus: TypeAlias = Literal["pending", "processing", "retry", "completed", "failed"]
TranscriptStatus: TypeAlias = Literal["pending", "processing", "completed", "skipped", "failed"]
