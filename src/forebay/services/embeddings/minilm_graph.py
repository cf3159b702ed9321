"""Builds the graph of all-MiniLM-L6-v2, a BERT of six layers, with weights of seven bits, from its float32 weights.

Weights are quantised by column, activations while it runs. Weights have seven bits, not eight, so that the sums of
products of eight-bit numbers never overflow the 16 bits in which processors without VNNI add them: every processor
computes the same. The result is the mean of the last layer over the tokens of a text, with the length 1.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forebay.services.embeddings.onnx_format import FLOAT, INT32, INT64, Graph
from forebay.services.embeddings.safetensors import Tensors

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_MICROSOFT = "com.microsoft"  # operations of onnxruntime that do several steps at once
_OPSETS = {"": 17, _MICROSOFT: 1}
_LARGEST_WEIGHT = 63
_LARGEST_ENTRY = 127  # of the table of words, which is only read


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a BERT."""

    width: int
    layers: int
    heads: int
    epsilon: float


def read_shape(folder: Path) -> Shape:
    config = json.loads((folder / "config.json").read_text("utf-8"))
    return Shape(
        config["hidden_size"], config["num_hidden_layers"], config["num_attention_heads"], config["layer_norm_eps"]
    )


def build_graph(folder: Path) -> bytes:
    """The model as ONNX, from the `config.json` and `model.safetensors` of a folder."""
    return _Builder(read_shape(folder), Tensors(folder / "model.safetensors")).build()


class _Builder:
    def __init__(self, shape: Shape, weights: Tensors) -> None:
        self._shape, self._weights, self._graph = shape, weights, Graph("minilm")

    def build(self) -> bytes:
        graph = self._graph
        ids = graph.take("input_ids", INT64, ["texts", "tokens"])
        mask = graph.take("attention_mask", INT32, ["texts", "tokens"])
        value = self._embed(ids)
        for number in range(self._shape.layers):
            value = self._layer(value, mask, f"encoder.layer.{number}.")
        graph.give(self._mean(value, mask), FLOAT, ["texts", self._shape.width])
        return graph.to_bytes(_OPSETS)

    def _embed(self, ids: str) -> str:
        """The words, their places, and the type of the only segment."""
        graph, weights = self._graph, self._weights
        table = weights["embeddings.word_embeddings.weight"]
        scale = np.maximum(np.abs(table).max(axis=1, keepdims=True), 1e-12).astype(np.float32) / _LARGEST_ENTRY
        rows = graph.constant("words", np.rint(table / scale).astype(np.int8))
        read = graph.node("Cast", [graph.node("Gather", [rows, ids])], to=FLOAT)
        word = graph.node("Mul", [read, graph.node("Gather", [graph.constant("words.scale", scale), ids])])
        zero, one, two = (graph.constant(name, np.array([n], np.int64)) for n, name in enumerate(("n0", "n1", "n2")))
        length = graph.node("Slice", [graph.node("Shape", [ids]), one, two])
        segment = weights["embeddings.token_type_embeddings.weight"][0]
        places = graph.constant("places", weights["embeddings.position_embeddings.weight"] + segment)
        place = graph.node("Slice", [places, zero, length, zero])
        return self._normalise(graph.node("Add", [word, place]), "embeddings.LayerNorm")

    def _normalise(self, value: str, name: str) -> str:
        inputs = [value, self._constant(f"{name}.weight"), self._constant(f"{name}.bias")]
        return self._graph.node("LayerNormalization", inputs, axis=-1, epsilon=self._shape.epsilon)

    def _layer(self, value: str, mask: str, name: str) -> str:
        graph, width = self._graph, self._shape.width
        joined = self._linear(value, [f"{name}attention.self.{each}" for each in ("query", "key", "value")])
        sizes = graph.constant(f"{name}sizes", np.array([width] * 3, np.int64))
        parts = graph.node("Split", [joined, sizes], outputs=3, axis=-1)
        seen = graph.node(
            "MultiHeadAttention",
            [f"{parts}.0", f"{parts}.1", f"{parts}.2", "", mask],
            domain=_MICROSOFT,
            num_heads=self._shape.heads,
        )
        value = self._add(self._linear(seen, [f"{name}attention.output.dense"]), value, f"{name}attention.output")
        inner = graph.node("Gelu", [self._linear(value, [f"{name}intermediate.dense"])], domain=_MICROSOFT)
        return self._add(self._linear(inner, [f"{name}output.dense"]), value, f"{name}output")

    def _add(self, value: str, before: str, name: str) -> str:
        inputs = [value, before, *(self._constant(f"{name}.LayerNorm.{each}") for each in ("weight", "bias"))]
        return self._graph.node("SkipLayerNormalization", inputs, domain=_MICROSOFT, epsilon=self._shape.epsilon)

    def _linear(self, value: str, names: list[str]) -> str:
        """Matrices side by side, so that the value is quantised once for all of them."""
        graph = self._graph
        matrix = np.concatenate([self._weights[f"{name}.weight"].T for name in names], axis=1)
        scale = np.maximum(np.abs(matrix).max(axis=0), 1e-12).astype(np.float32) / _LARGEST_WEIGHT
        whole = np.rint(matrix / scale).astype(np.int8)
        bias = np.concatenate([self._weights[f"{name}.bias"] for name in names])
        name = names[0]
        inputs = [
            value,
            graph.constant(f"{name}.w", whole),
            graph.constant(f"{name}.scale", scale),
            graph.constant(f"{name}.zero", np.zeros(len(scale), np.int8)),
            graph.constant(f"{name}.b", bias),
        ]
        return graph.node("DynamicQuantizeMatMul", inputs, domain=_MICROSOFT)

    def _mean(self, value: str, mask: str) -> str:
        graph = self._graph
        ones = graph.node("Cast", [mask], to=FLOAT)
        wide = graph.node("Unsqueeze", [ones, "n2"])
        total = graph.node("ReduceSum", [graph.node("Mul", [value, wide]), "n1"], keepdims=0)
        mean = graph.node("Div", [total, graph.node("ReduceSum", [ones, "n1"], keepdims=1)])
        return graph.node("LpNormalization", [mean], axis=-1, p=2)

    def _constant(self, name: str) -> str:
        found: NDArray[np.float32] = self._weights[name]
        return self._graph.constant(name, found)
