"""Speech transcribed in a second: by our sandboxed process, piece by piece, and by faster-whisper called bare."""

import asyncio
import json
import sys
import time
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.harness import BenchError, Context
from forebay.engine.declare.limited import limited
from forebay.engine.processes.limited_calls import LimitedCalls, open_limited_calls
from forebay.services.speech.audio import RATE
from forebay.services.speech.models import find_model
from forebay.services.speech.recognition import Options, PieceRequest, read_piece, transcribe_piece
from forebay.services.speech.transcript import Piece, joined
from forebay.settings import Settings
from tests.services.speech._speech import SAID, SPEECH, word_errors

OURS, BARE = "forebay: speech", "faster-whisper, bare"
COPIES = 12  # of 18 seconds
_TRANSCRIBE = limited(transcribe_piece, memory_mb=1536, timeout=3600)


async def run(context: Context) -> None:
    if not context.ours:
        return
    recording = context.folder / "speech.wav"
    seconds = await asyncio.to_thread(_write, recording)
    async with open_limited_calls(Settings()) as calls, _bare() as bare:
        await _ours(calls, SPEECH)  # both have loaded the model before they are measured
        await _ask(bare, SPEECH)
        ours, other = 1.0, 1.0
        for _ in range(context.sizes.repeats):
            meter, began = context.meter(), time.perf_counter()
            ours = word_errors(" ".join([SAID] * COPIES), await _ours(calls, recording))
            context.sample(OURS, seconds / (time.perf_counter() - began), "seconds of speech/s", meter)
            meter = context.meter()
            took, text = await _ask(bare, recording)
            context.sample(BARE, seconds / took, "seconds of speech/s", meter)
            other = word_errors(" ".join([SAID] * COPIES), text)
    note = f"{seconds:.0f} s of speech; word error rate {ours:.3f}, called bare {other:.3f}"
    context.record_medians("speech", OURS, BARE, note)
    context.say(f"  {note}")


def _write(target: Path) -> float:
    """The sample, several times."""
    samples = read_piece(SPEECH, PieceRequest()).samples * COPIES
    with wave.open(str(target), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE)
        sound.writeframes(samples)
    return len(samples) / 2 / RATE


async def _ours(calls: LimitedCalls, recording: Path) -> str:
    model, pieces = find_model(Settings()), list[Piece]()
    while not pieces or not pieces[-1].is_last:
        wanted = PieceRequest(start_ms=pieces[-1].end_ms if pieces else 0)
        pieces.append(await calls.call(_TRANSCRIBE, recording, model.files, wanted, Options()))
    return joined(pieces).text


@asynccontextmanager
async def _bare() -> AsyncIterator[asyncio.subprocess.Process]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.bare_speech", stdin=pipe, stdout=pipe, limit=1 << 20
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _ask(bare: asyncio.subprocess.Process, recording: Path) -> tuple[float, str]:
    assert bare.stdin is not None
    assert bare.stdout is not None
    bare.stdin.write(f"{recording}\n".encode())
    line = await bare.stdout.readline()
    if not line:
        raise BenchError("faster-whisper ended")
    found = json.loads(line)
    return found["seconds"], found["text"]
