"""Speech to text for the steps of pipelines: piece by piece, so that an attempt continues where the last one ended."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from forebay import resources
from forebay.engine.declare.limited import limited
from forebay.log import get_logger
from forebay.services.speech import endpoint, recognition
from forebay.services.speech.models import PACKAGES, find_model
from forebay.services.speech.transcript import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.engine.declare.context import Context
    from forebay.services.openai.service import Service
    from forebay.services.speech.models import SpeechModel
    from forebay.services.speech.recognition import AudioPiece
    from forebay.services.speech.transcript import Piece, Transcript
    from forebay.settings import Settings

log = get_logger("speech")

_READ_PIECE = limited(recognition.read_piece, memory_mb=512, timeout=600, needs=PACKAGES)
_GPU_DEVICES = (Path("/dev/nvidiactl"), Path("/dev/dxg"))
_SECONDS_PER_SECOND = 4.0  # that a piece may take: large models on few processors are slow
_LEAST_TIMEOUT_S = 300.0


class PieceStore(Protocol):
    """Stores the pieces of a recording between attempts."""

    async def load(self, model: str) -> Sequence[Piece]:
        """The stored pieces that this model has transcribed, in order."""
        ...

    async def save(self, model: str, piece: Piece) -> None: ...


class Spoken(NamedTuple):
    """A transcript, and the model that wrote it."""

    transcript: Transcript
    model: str


async def transcribe(ctx: Context, recording: Path, store: PieceStore, purpose: str) -> Spoken:
    """Transcribe a recording, or what earlier attempts have left of it.

    Raises: ConfigError if there is no model: it says how to get one; DataError if the recording cannot be read; what
    `OpenAiClient.post_form` raises.
    """
    settings = await ctx.get(resources.settings)
    service = endpoint.speech_service(settings)
    tool = _Local(ctx, settings) if service is None else _Remote(ctx, settings, service, purpose)
    pieces = _consecutive(await store.load(tool.name))
    while not pieces or not pieces[-1].is_last:
        start_ms = pieces[-1].end_ms if pieces else 0
        wanted = recognition.PieceRequest(start_ms=start_ms, seconds=tool.piece_s, max_s=settings.speech_max_s)
        piece = await tool.transcribe(recording, wanted)
        await store.save(tool.name, piece)
        log.info("piece_transcribed", job=ctx.job_id, start_ms=piece.start_ms, end_ms=piece.end_ms, model=tool.name)
        pieces.append(piece)
    return Spoken(joined(pieces), tool.name)


def _consecutive(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces from the start of the recording up to the first that is missing."""
    found: list[Piece] = []
    for piece in pieces:
        if piece.start_ms != (found[-1].end_ms if found else 0):
            break
        found.append(piece)
    return found


class _Local:
    def __init__(self, ctx: Context, settings: Settings) -> None:
        """Raises: ConfigError if there is no model."""
        self._ctx = ctx
        self._model: SpeechModel = find_model(settings)
        self._memory_mb = settings.speech_memory_mb
        self._on_gpu = settings.speech_device == "cuda" or (
            settings.speech_device == "auto" and any(device.exists() for device in _GPU_DEVICES)
        )
        device = settings.speech_device if self._on_gpu else "cpu"
        self._options = recognition.Options(
            language=settings.speech_language, threads=settings.speech_threads, device=device
        )
        self.name = self._model.name
        self.piece_s = settings.speech_piece_s

    async def transcribe(self, recording: Path, wanted: recognition.PieceRequest) -> Piece:
        timeout = max(_LEAST_TIMEOUT_S, wanted.seconds * _SECONDS_PER_SECOND)
        if self._on_gpu:  # which no sandbox sees: so the recording, which is untrusted, is decoded in another process
            piece = await self._ctx.call(_READ_PIECE, recording, wanted)
            call = limited(recognition.recognise, memory_mb=self._memory_mb, timeout=timeout, sandbox=False)
            return await self._ctx.call(call, piece, self._model.files, self._options)
        whole = limited(recognition.transcribe_piece, memory_mb=self._memory_mb, timeout=timeout, needs=PACKAGES)
        return await self._ctx.call(whole, recording, self._model.files, wanted, self._options)


class _Remote:
    def __init__(self, ctx: Context, settings: Settings, service: Service, purpose: str) -> None:
        self._ctx, self._service, self._purpose = ctx, service, purpose
        self._language = settings.speech_language
        self.name = service.model
        self.piece_s = min(settings.speech_piece_s, endpoint.PIECE_S)

    async def transcribe(self, recording: Path, wanted: recognition.PieceRequest) -> Piece:
        piece: AudioPiece = await self._ctx.call(_READ_PIECE, recording, wanted)
        self._ctx.progress(*recognition.shown_progress(piece.start_ms / 1000, piece.total_s))
        http = await self._ctx.get(resources.http)
        found = await endpoint.ask(http, self._service, piece, self._language, self._purpose)
        self._ctx.progress(*recognition.shown_progress(piece.end_ms / 1000, piece.total_s))
        return found
