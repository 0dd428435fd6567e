"""The variables of CTranslate2's model.bin under attend's names, and the stacks that they make.

Projections that read one input are one matrix: of queries, keys and values, or of keys and values over the encoder. Without a table of
positions there are tensor2tensor's sinusoids, the first token at position 1.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from attend._errors import InputError
from attend.convert._ctranslate2_file import Array, ModelFile
from attend.convert._files import Renamed
from attend.convert._sinusoids import position_fields
from attend.convert._source import stack

ACTIVATIONS = {0: "relu", 1: "gelu_tanh", 2: "silu", 3: "gelu"}
GATED = {1: "geglu_tanh", 2: "swiglu"}
ROUNDING = {"float16": 2.5e-4, "bfloat16": 2e-3}  # how far these types round sines and cosines
# What attend lacks if it is not 0, and what changes nothing in a model without it.
LACKING = ("alibi", "multi_query_attention", "with_relative_position")
WITHOUT_EFFECT = (
    "embeddings_merge", "layernorm_embedding", "alibi_use_positive_positions", "scale_alibi", "alignment_layer", "alignment_heads")
SETTINGS = ("num_heads", "pre_norm", "activation", "scale_embeddings", "start_from_zero_embedding", *LACKING, *WITHOUT_EFFECT)
# Variables of a stack that have a place.
KNOWN = re.compile(
    r"(en|de)coder/(embeddings(_0)?/weight|embeddings/multiply_by_sqrt_depth|position_encodings/encodings"
    r"|(layernorm_embedding|layer_norm|layer_\d+/(self_attention|attention|ffn)/layer_norm)/(gamma|beta)"
    r"|(projection|layer_\d+/(self_attention|attention)/linear_[012]|layer_\d+/ffn/linear_(0|1|0_noact))/(weight|bias)"
    f"|{'|'.join(SETTINGS)})|encoder/conv[12]/(weight|bias)")


class Weights:
    """Takes a file's variables under attend's names."""

    def __init__(self, file: ModelFile, epsilon: float) -> None:
        self.file, self.epsilon, self.width = file, epsilon, 0
        self.rounding = 0.0  # of sinusoids that the file has
        for name in [name for name in SETTINGS if name in file.values]:  # old files have them for both stacks
            shared = file.values.pop(name)
            for side in ("encoder", "decoder"):
                file.values.setdefault(f"{side}/{name}", shared)
                file.types.setdefault(f"{side}/{name}", file.types[name])
        for name in sorted(file.values):
            if not KNOWN.fullmatch(name):
                raise InputError(f"{file.where}: variable '{name}' is one that attend lacks a place for")
        self.renamed = Renamed(file.values, file.where)
        self.left = file.values = self.renamed.left
        self.tensors = self.renamed.tensors

    def fail(self, text: str) -> InputError:
        return InputError(f"{self.file.where}: {text}")

    def take(self, given: str, *shape: int) -> Array:
        """A variable of this shape, -1 for any size."""
        if given not in self.left:
            raise self.fail(f"variable '{given}' is missing")
        value = self.left.pop(given)
        if value.ndim != len(shape) or any(wanted not in (-1, size) for size, wanted in zip(value.shape, shape, strict=True)):
            expected = ", ".join("any" if size < 0 else str(size) for size in shape)
            raise self.fail(f"variable '{given}' has shape {list(value.shape)}, expected [{expected}]")
        if value.dtype != np.float32:
            raise self.fail(f"variable '{given}' is {value.dtype}, expected floats")
        return value

    def put(self, name: str, value: Array) -> None:
        self.tensors[name] = np.ascontiguousarray(value, np.float32)

    def linear(self, names: list[str], given: str, shape: tuple[int, int], bias: bool) -> None:
        """Matrices of this shape, which stand below each other. With `bias`, one of zeros where they have none."""
        weight = self.take(f"{given}/weight", shape[0] * len(names) if shape[0] > 0 else -1, shape[1])
        none = f"{given}/bias" not in self.left
        biases = np.zeros(len(weight)) if none else self.take(f"{given}/bias", len(weight))
        rows = len(weight) // len(names)
        for i, name in enumerate(names):
            self.put(f"{name}.weight", weight[i * rows : (i + 1) * rows])
            if bias:
                self.put(f"{name}.bias", biases[i * rows : (i + 1) * rows])

    def norm(self, name: str, given: str) -> None:
        self.put(f"{name}.weight", self.take(f"{given}/gamma", self.width))
        if f"{given}/beta" not in self.left:
            raise self.fail(f"'{given}' has no beta: it is an RMS norm, which attend lacks")
        self.put(f"{name}.bias", self.take(f"{given}/beta", self.width))

    def has_bias(self, side: str, parts: str) -> bool:
        pattern = re.compile(f"{side}/layer_\\d+/({parts})/linear_\\w+/bias")
        return any(pattern.fullmatch(name) for name in self.left)

    def count_layers(self, side: str) -> int:
        found = {int(match[1]) for name in self.left if (match := re.match(f"{side}/layer_(\\d+)/", name))}
        if not found or found != set(range(len(found))):
            raise self.fail(f"there are {len(found)} of {side}/layer_0, layer_1 ..., expected one at least and no gap")
        return len(found)

    def attention(self, name: str, given: str, groups: tuple[tuple[str, ...], ...], bias: bool) -> None:
        for i, parts in enumerate(groups):
            self.linear([f"{name}.{part}" for part in parts], f"{given}/linear_{i}", (self.width, self.width), bias)
        self.norm(f"{name}_norm", f"{given}/layer_norm")

    def layer(self, name: str, given: str, cross_attention: bool, biases: tuple[bool, bool]) -> int:
        """Returns d_ff."""
        self.attention(f"{name}.self_attention", f"{given}/self_attention", (("query", "key", "value"), ("output",)), biases[0])
        if cross_attention:
            self.attention(f"{name}.cross_attention", f"{given}/attention", (("query",), ("key", "value"), ("output",)), biases[0])
        ours, theirs = f"{name}.feed_forward", f"{given}/ffn/linear"
        gated = f"{theirs}_0_noact/weight" in self.left
        first = f"{ours}.{'gate' if gated else 'inner'}"  # which the activation follows
        self.linear([first], f"{theirs}_0", (-1, self.width), biases[1])
        inner = len(self.tensors[f"{first}.weight"])
        if gated:
            self.linear([f"{ours}.inner"], f"{theirs}_0_noact", (inner, self.width), biases[1])
        self.linear([f"{ours}.outer"], f"{theirs}_1", (self.width, inner), biases[1])
        self.norm(f"{ours}_norm", f"{given}/ffn/layer_norm")
        return inner

    def embedding(self, side: str, order: list[int], vocabulary: str) -> None:
        name = f"{side}/embeddings_0/weight"
        given = name if name in self.left else f"{side}/embeddings/weight"
        table = self.take(given, -1, self.width or -1)
        if len(table) != len(order):
            raise InputError(f"{vocabulary}: {len(order)} tokens, expected {len(table)}, the rows of '{given}' in {self.file.where}")
        self.width = table.shape[1]
        self.put(f"{side}.embedding.weight", table[order])

    def positions(self, side: str) -> dict[str, Any]:
        given = f"{side}/position_encodings/encodings"
        if given not in self.left:
            return {"position_convention": "timing_signal", "position_offset": 1}
        table = self.take(given, -1, self.width)
        rounding = ROUNDING.get(self.file.types[given], 0)
        fields = position_fields(table, rounding)
        if fields.get("positions") == "learned":
            self.put(f"{side}.positions.weight", table)
        elif "position_convention" in fields:
            self.rounding = max(self.rounding, rounding)
        return fields

    def scales(self, side: str) -> bool:
        """Whether embeddings are multiplied by sqrt(D): a flag says so, or the factor itself."""
        old = self.file.number(f"{side}/embeddings/multiply_by_sqrt_depth", 1)
        is_flag = self.file.types.get(f"{side}/scale_embeddings", "int8") == "int8"
        factor, root = self.file.number(f"{side}/scale_embeddings", old), math.sqrt(self.width)
        if is_flag or factor == 1:
            return is_flag and factor != 0
        if not math.isclose(factor, root, rel_tol=1e-5):
            raise self.fail(f"{side}/scale_embeddings is {factor}, which attend lacks; expected 1 or {root:.7g}")
        return True

    def activation(self, side: str) -> str:
        number = self.file.number(f"{side}/activation", 0)
        choices = GATED if f"{side}/layer_0/ffn/linear_0_noact/weight" in self.left else ACTIVATIONS
        if number not in choices:
            known = " or ".join(f"{key} ({name})" for key, name in choices.items())
            raise self.fail(f"{side}/activation is {number:g}, which attend lacks; expected {known}")
        return choices[int(number)]

    def heads(self, side: str) -> int:
        heads = self.file.number(f"{side}/num_heads", 16 if self.file.specification == "TransformerBig" else 8)
        if heads < 1 or self.width % heads:
            raise self.fail(f"{side}/num_heads is {heads:g}, expected a divisor of the width {self.width}")
        return int(heads)

    def stack(self, side: str, cross_attention: bool) -> dict[str, Any]:
        """Takes all but the embedding, which comes first."""
        for name in LACKING:
            if self.file.number(f"{side}/{name}", 0):
                raise self.fail(f"{side}/{name} is not 0, which attend lacks")
        fields = {
            "heads": self.heads(side), "activation": self.activation(side), "scale_embedding": self.scales(side),
            "norm_place": "pre" if self.file.number(f"{side}/pre_norm", 1) else "post",
            "embedding_norm": f"{side}/layernorm_embedding/gamma" in self.left, **self.positions(side)}
        biases = self.has_bias(side, "self_attention|attention"), self.has_bias(side, "ffn")
        layers = self.count_layers(side)
        inner = [self.layer(f"{side}.layers.{i}", f"{side}/layer_{i}", cross_attention, biases) for i in range(layers)]
        if len(set(inner)) > 1:
            raise self.fail(f"{side}: the feed-forward layers have {min(inner)} to {max(inner)} rows, expected one number")
        if fields["norm_place"] == "pre":
            self.norm(f"{side}.norm", f"{side}/layer_norm")
        if fields["embedding_norm"]:
            self.norm(f"{side}.embedding_norm", f"{side}/layernorm_embedding")
        return stack(
            layers=layers, d_model=self.width, d_ff=inner[0], norm_epsilon=self.epsilon, attention_bias=biases[0],
            feed_forward_bias=biases[1], **fields)

    def head(self, order: list[int]) -> bool:
        """Whether it has a bias."""
        self.put("head.weight", self.take("decoder/projection/weight", len(order), self.width)[order])
        has_bias = "decoder/projection/bias" in self.left
        if has_bias:
            self.put("head.bias", self.take("decoder/projection/bias", len(order))[order])
        return has_bias

    def tie(self) -> dict[str, bool]:
        """Leaves out the tables that stand twice."""
        source, target = self.tensors.get("encoder.embedding.weight"), self.tensors["decoder.embedding.weight"]
        ties = {
            "tie_source_target": source is not None and np.array_equal(source, target),
            "tie_target_output": np.array_equal(target, self.tensors["head.weight"])}
        for tied, name in zip(ties.values(), ("decoder.embedding.weight", "head.weight"), strict=True):
            if tied:
                del self.tensors[name]
        return ties

    def finish(self) -> dict[str, Array]:
        for name in [name for name in self.left if name.endswith(SETTINGS)]:
            self.file.number(name, 0)
        return self.renamed.finish()
