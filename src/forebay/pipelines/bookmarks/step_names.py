"""The names of the steps of bookmarks, for the pipeline and for requests."""

from __future__ import annotations

from typing import Literal, TypeAlias

StepName: TypeAlias = Literal["screenshot", "metadata", "images", "favicon", "ocr", "caption"]
