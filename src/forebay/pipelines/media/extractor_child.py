"""Runs yt-dlp inside the sandbox: `python -I extractor_child.py ORDER`, where ORDER is JSON. Needs no other module.

It prints one line of JSON for each report of progress, one for each response that the proxy cannot read because it is
encrypted (its host, status and duration), and one for an error with its HTTP status and its kind, so that
nobody has to read messages. What was found goes to `info.json` in the output folder. No option comes from anywhere but
this file and the order: no configuration, netrc, plugins, cache, external downloader, or commands to execute. The names
of files are fixed: no title becomes a path.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_SHORTEST_LABEL = 4  # what is shorter is in too many patterns
MARK = "@forebay "  # before each line that is a report


def params(order: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The options of yt-dlp, with the extractors of these names, or with all."""
    height = order["maxHeight"]
    return {
        "allowed_extractors": [re.escape(name) for name in names] or ["default"],
        "cachedir": False,
        "color": {"stdout": "never", "stderr": "never"},
        "continuedl": True,
        "enable_file_urls": False,
        "extract_flat": "in_playlist",
        "fixup": "never",  # the caller does that, with a program that has no network
        "format": f"bv*[height<=?{height}]+ba/b[height<=?{height}]/b/bv*+ba/ba",
        "format_sort": ["res", "ext:mp4:m4a", "proto"],
        "fragment_retries": 5,
        "hls_prefer_native": True,
        "ignoreerrors": False,
        "logger": Quiet(),
        "max_filesize": order["maxBytes"],  # only for servers that say how much they send: the runner enforces it
        "merge_output_format": "mp4/mkv",
        "noplaylist": True,
        "nopart": False,
        "outtmpl": {"default": f"{order['output']}/media.%(ext)s"},
        "overwrites": True,
        "playlistend": order["maxEntries"],
        "postprocessors": [],
        "progress_hooks": [tell_progress],
        "proxy": os.environ.get("http_proxy", ""),
        "retries": 3,
        "skip_unavailable_fragments": False,  # a film without some of its parts is not the film
        "socket_timeout": order["stallS"],
        "updatetime": False,
        "usenetrc": False,
        "writesubtitles": False,
    }


class Quiet:
    """Keeps the last words; what matters is reported apart."""

    def debug(self, text: str) -> None:
        """Not shown."""

    def warning(self, text: str) -> None:
        """Not shown."""

    def error(self, text: str) -> None:
        """Not shown: the exception has it, too."""


def tell(**report: Any) -> None:
    sys.stdout.write(f"{MARK}{json.dumps(report)}\n")
    sys.stdout.flush()


def tell_progress(status: dict[str, Any]) -> None:
    total = status.get("total_bytes") or status.get("total_bytes_estimate")
    tell(done=status.get("downloaded_bytes"), total=None if total is None else int(total), state=status.get("status"))


def tell_answers(client: Any) -> None:
    """Report the responses of encrypted connections, so that the worker knows how the hosts are."""
    opened = client.urlopen

    def urlopen(request: Any) -> Any:
        began = time.monotonic()
        try:
            response = opened(request)
        except Exception as error:
            tell_answer(getattr(error, "response", None), time.monotonic() - began)
            raise
        tell_answer(response, time.monotonic() - began)
        return response

    client.urlopen = urlopen


def tell_answer(response: Any, seconds: float) -> None:
    if response is not None and (url := urlsplit(str(response.url))).scheme == "https":
        wait = response.headers.get("Retry-After")
        tell(host=url.hostname, status=response.status, seconds=round(seconds, 3), retryAfter=wait)


def describe(error: BaseException) -> dict[str, Any]:
    """The kind of an error, and the HTTP status behind it."""
    kinds, found = list[str](), dict[str, Any]()
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        kinds.append(type(each).__name__)
        response = getattr(each, "response", None)
        if getattr(each, "status", None) is not None and response is not None:
            found["status"] = each.status  # type: ignore[attr-defined]
            found["retryAfter"] = response.headers.get("Retry-After")
        if getattr(each, "expected", False):
            found["expected"] = True
        info = getattr(each, "exc_info", None) or (None, None)
        waiting += [one for one in (info[1], getattr(each, "cause", None), each.__cause__, each.__context__) if one]
    return {"error": str(error).removeprefix("ERROR: ")[:500], "kinds": kinds, **found}


def likely_extractors(url: str) -> list[str]:
    """The names of extractors whose patterns contain the name of the site, and the generic one.

    Trying all 1,800 patterns takes seconds, because each of them has to be compiled first.
    """
    parts = (urlsplit(url).hostname or "").split(".")
    label = max(parts[:-1], key=len, default="")
    if len(label) < _SHORTEST_LABEL:
        return []
    module: Any = import_module("yt_dlp.extractor")
    kinds = [each for each in module.list_extractor_classes() if label in str(each._VALID_URL).replace("\\", "")]  # noqa: SLF001
    return [*(each.IE_NAME for each in kinds), "generic"]


def extracted(order: dict[str, Any], names: list[str]) -> str:
    """What yt-dlp finds, as JSON."""
    yt_dlp: Any = import_module("yt_dlp")
    with yt_dlp.YoutubeDL(params(order, names)) as client:
        tell_answers(client)
        info = client.extract_info(order["url"], download=order["download"])
        return json.dumps(client.sanitize_info(info, remove_private_keys=True))


def found_by_any(order: dict[str, Any]) -> str:
    """What the known extractors find, or those that the URL suggests, or any: the name of a known one may be that of a
    part of a page, which is no extractor, and the name of a site may not be in the pattern of its extractor."""
    for find in (lambda: order["extractors"], lambda: likely_extractors(order["url"])):  # the second takes longer
        names = find()
        if not names:
            continue
        try:
            return extracted(order, names)
        except Exception as error:
            kinds = describe(error)["kinds"]
            if "UnsupportedError" not in kinds and kinds != ["DownloadError"]:  # alone: no extractor was suitable
                raise
    return extracted(order, [])


def main(order: dict[str, Any]) -> int:
    os.environ["YTDLP_NO_PLUGINS"] = "1"
    try:
        text = found_by_any(order)
    except Exception as error:  # whatever an extractor raises is told
        tell(**describe(error))
        return 1
    Path(order["output"], "info.json").write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
