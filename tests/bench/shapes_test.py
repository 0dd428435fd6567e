"""bench/shapes.py: what a token costs, against a real model's tensors and a count by hand."""

import pathlib

from numpy_transformer import read_safetensors
from shapes import Lengths, Shape, multiply_adds, once_weights, step_weights, weight_bytes

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = Shape(encoder_layers=2, decoder_layers=2, d_model=32, heads=4, d_ff=48)
SMALL = Shape(encoder_layers=1, decoder_layers=1, d_model=2, heads=1, d_ff=3)


def test_weights_are_those_of_a_model():
    tensors = read_safetensors(ROOT / "tests/data/golden_v1/model.safetensors")
    matrices = {name: tensor.size for name, tensor in tensors.items() if tensor.ndim == 2}
    embedding = matrices.pop("encoder.embedding.weight")  # the output layer's too
    once = sum(size for name, size in matrices.items() if name.startswith("encoder") or ".cross_attention.key" in name or ".cross_attention.value" in name)
    assert once_weights(GOLDEN) == once
    assert step_weights(GOLDEN, 52) == sum(matrices.values()) - once + embedding
    assert weight_bytes(GOLDEN, 52, Lengths(source=9, target=4), 4) == 4 * (sum(matrices.values()) - once + embedding) + once


def test_multiply_adds_by_hand():
    # d 2, ff 3, V 5: an encoder layer has 16 + 12 weights, cross keys and values 8, a decoder layer 24 + 12, the output 10.
    # Three source pieces: 3 * (28 + 8), and each looks at 3 positions, 2 * 2 * 3. Two steps of one row look at 1 and 2 tokens
    # and 3 source pieces: 46 + 4 * 4 and 46 + 4 * 5.
    encoder = 3 * (28 + 8) + 3 * 12
    assert multiply_adds(SMALL, 5, Lengths(source=3, target=2)) == (encoder + 46 + 16 + 46 + 20) / 2
    # With a beam of 4 the second step has four rows.
    assert multiply_adds(SMALL, 5, Lengths(source=3, target=2, beam=4)) == (encoder + 46 + 16 + 4 * (46 + 20)) / 2
