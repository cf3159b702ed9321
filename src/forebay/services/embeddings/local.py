"""The model on this machine: all-MiniLM-L6-v2 on onnxruntime.

It runs on threads of its own, one batch on each: onnxruntime and the tokenizer release the interpreter, and a batch
that is divided among processors takes more of their time. Texts of similar length share a batch, because the shorter
ones are padded.
"""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from forebay.errors import ConfigError
from forebay.services.embeddings.model_file import NAME, model_file, weights_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 384
MAX_TOKENS = 256
_EXTRA = "pip install 'forebay[embeddings]'"
_CPU = "CPUExecutionProvider"
_PROVIDERS = ("CUDAExecutionProvider", "ROCMExecutionProvider", "CoreMLExecutionProvider")


class BatchLimits(NamedTuple):
    """When a batch is full."""

    tokens: int  # at most, with the padding
    full_enough: int  # tokens from which on a call of the model costs little in comparison
    similar: float  # of the longest text: shorter ones are left to the next batch, if this one is full enough


ON_CPU = BatchLimits(256, 128, 0.8)  # larger ones take more memory, and more time for each text
ON_GPU = BatchLimits(8192, 4096, 0.5)  # a call takes about as long for many texts as for one


class LocalModel:
    """The built-in model; `open_local` makes it."""

    name = NAME
    dimensions = DIMENSIONS
    max_tokens = MAX_TOKENS

    def __init__(self, threads: ThreadPoolExecutor, session: Any, tokenizer: Any) -> None:
        self._threads, self._session, self._tokenizer = threads, session, tokenizer
        self._limits = ON_CPU if self.provider == _CPU else ON_GPU

    @property
    def provider(self) -> str:
        """What computes: CPUExecutionProvider, or that of a GPU."""
        found: str = self._session.get_providers()[0]
        return found

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(each.ids) for each in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        loop = asyncio.get_running_loop()
        ids = await loop.run_in_executor(self._threads, self._encode, texts)
        batches = list(_batches([len(each) for each in ids], self._limits))
        calls = [loop.run_in_executor(self._threads, self._run, [ids[place] for place in batch]) for batch in batches]
        return _in_order(batches, await asyncio.gather(*calls))

    def embed_now(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same, on the calling thread."""
        ids = self._encode(texts)
        batches = list(_batches([len(each) for each in ids], self._limits))
        return _in_order(batches, [self._run([ids[place] for place in batch]) for batch in batches])

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [_cut(each.ids) for each in self._tokenizer.encode_batch(list(texts))]

    def _run(self, ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """The vectors of one batch."""
        import numpy as np  # noqa: PLC0415 - an extra

        tokens = np.zeros((len(ids), max(map(len, ids))), np.int64)
        mask = np.zeros(tokens.shape, np.int32)
        for row, each in enumerate(ids):
            tokens[row, : len(each)] = each
            mask[row, : len(each)] = 1
        found: NDArray[np.float32] = self._session.run(None, {"input_ids": tokens, "attention_mask": mask})[0]
        return found

    def close(self) -> None:
        self._threads.shutdown(wait=True)


def _in_order(batches: Sequence[Sequence[int]], found: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The vectors of batches, at the places of their texts."""
    import numpy as np  # noqa: PLC0415 - an extra

    vectors = np.empty((sum(map(len, batches)), DIMENSIONS), np.float32)
    for batch, own in zip(batches, found, strict=True):
        vectors[list(batch)] = own
    return vectors


def _cut(ids: list[int]) -> list[int]:
    """The longest beginning that the model takes, with the token that ends a text."""
    return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]]


def _batches(lengths: Sequence[int], limits: BatchLimits) -> Iterator[list[int]]:
    """Places of texts, in batches of texts of similar length; the longest first, so that the memory that is needed is
    taken once."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda each: -lengths[each]):
        if batch and _is_full(limits, len(batch), lengths[batch[0]], lengths[place]):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _is_full(limits: BatchLimits, texts: int, longest: int, following: int) -> bool:
    """Whether a batch of so many texts is better without the following one, which would be padded to the longest."""
    if (texts + 1) * longest > limits.tokens:
        return True
    return texts * longest >= limits.full_enough and following < longest * limits.similar


def open_local(cache: Path, threads: int | None = None, *, niceness: int = 0) -> LocalModel:
    """Open the model; blocks for a tenth of a second, or for a second when its file is built first.

    Its threads, one for each processor unless a number is given, have this niceness: those of a worker leave the
    processors to searches and to the database.

    Raises: ConfigError when a package is missing.
    """
    pool = ThreadPoolExecutor(
        threads or len(os.sched_getaffinity(0)),
        thread_name_prefix="embedding",
        initializer=_lower_priority,
        initargs=(niceness,),
    )
    try:
        session, tokenizer = pool.submit(_open, cache).result()
    except BaseException:
        pool.shutdown()
        raise
    return LocalModel(pool, session, tokenizer)


def _lower_priority(niceness: int) -> None:
    """Of this thread, and of those that it starts."""
    if niceness:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)


def _open(cache: Path) -> tuple[Any, Any]:
    try:
        ort: Any = import_module("onnxruntime")  # an extra, without types
        from tokenizers import Tokenizer  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(f"the model {NAME} needs {error.name}: {_EXTRA}") from error
    folder = weights_folder()
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1  # of a call: it runs on the thread that calls
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False  # a third of the memory, as fast
    options.log_severity_level = 3
    wanted = [name for name in _PROVIDERS if name in ort.get_available_providers()]
    session = ort.InferenceSession(str(model_file(cache)), options, providers=[*wanted, _CPU])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return session, tokenizer
