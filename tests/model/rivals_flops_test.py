"""attend inspect --flops of other architectures and of windows against PyTorch's counter over small models of PyTorch's parts.

Weights are made where they are used, for the counter looks at shapes alone. python/tests/flops_test.py has the Transformer.
"""

import json
import os
import pathlib
import subprocess

import pytest
import torch
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

ATTEND = pathlib.Path(os.environ["BUILD_DIR"]) / "attend"
SOURCE, TARGET, VOCABULARY, WIDTH, LAYERS, WINDOW = 23, 17, 300, 64, 3, 4


def inspect(*arguments):
    return json.loads(subprocess.run([ATTEND, "inspect", *map(str, arguments), "--json"], capture_output=True, check=True).stdout)


def tensor(*shape):
    return torch.randn(shape, requires_grad=True)


def linear(x, width=WIDTH):
    return functional.linear(x, tensor(width, x.shape[-1]))


def attention(queries, keys, values):
    return (queries @ keys.T).softmax(-1) @ values


def self_attention(x, after):
    """Each place attends to those at most WINDOW before and so many after it, one query at a time."""
    queries, keys, values = linear(x), linear(x), linear(x)
    seen = [slice(max(0, place - WINDOW), place + after + 1) for place in range(len(x))]
    return linear(torch.cat([attention(queries[i : i + 1], keys[near], values[near]) for i, near in enumerate(seen)]))


def cross_attention(x, memory):
    return linear(attention(linear(x), linear(memory), linear(memory)))


def transformer(source, target):
    for _ in range(LAYERS):
        source = linear(linear(self_attention(source, WINDOW), 2 * WIDTH))
    for _ in range(LAYERS):
        target = linear(linear(cross_attention(self_attention(target, 0), source), 2 * WIDTH))
    return target


def recurrent(kind, x, width=WIDTH):
    """A step after another; the state before the first one has a gradient as all others have."""
    cell, state, outputs = kind(x.shape[1], width), tensor(1, width), []
    for row in x.split(1):
        state = cell(row, (state, torch.zeros(1, width)))[0] if kind is torch.nn.LSTMCell else cell(row, state)
        outputs.append(state)
    return torch.cat(outputs)


def recurrent_model(kind, source, target):
    memory = torch.cat([recurrent(kind, source, WIDTH // 2) for _ in range(2)], 1)
    for _ in range(LAYERS - 1):
        memory = recurrent(kind, memory)
    x = recurrent(kind, target)
    context = cross_attention(x, memory)
    for _ in range(LAYERS - 1):
        x = recurrent(kind, torch.cat([x, context], 1))
    return x


def convolution(separable, x):
    padded = functional.pad(x.T, (2, 0))
    if not separable:
        return functional.glu(functional.conv1d(padded[None], tensor(2 * WIDTH, WIDTH, 3))[0], 0).T
    # A product for each column: of a convolution in groups the counter takes gradients for those of a whole one.
    return functional.glu(linear((padded.unfold(1, 3, 1) @ tensor(WIDTH, 3, 1)).squeeze(2).T, 2 * WIDTH))


def convolutional_model(separable, source, target):
    memory = linear(source)
    for _ in range(LAYERS):
        memory = convolution(separable, memory)
    keys, x = linear(memory), linear(target)
    for _ in range(LAYERS):
        y = convolution(separable, x)
        x = x + linear(attention(linear(y), keys, keys + source))
    return linear(x)


@pytest.mark.parametrize("architecture, changes, model", [
    ("lstm", {}, lambda *text: recurrent_model(torch.nn.LSTMCell, *text)),
    ("gru", {}, lambda *text: recurrent_model(torch.nn.GRUCell, *text)),
    ("convolution", {}, lambda *text: convolutional_model(False, *text)),
    ("convolution", {"separable": True}, lambda *text: convolutional_model(True, *text)),
    ("transformer", {"heads": 4, "d_ff": 2 * WIDTH, "attention_window": WINDOW}, transformer),
], ids=["lstm", "gru", "convolution", "separable", "attention_window"])
def test_counts_are_pytorchs(architecture, changes, model, tmp_path):
    preset = {"gru": "lstm", "transformer": "base"}.get(architecture, architecture)
    config = inspect("--preset", preset, "--vocab-size", VOCABULARY)["model"] | {"architecture": architecture}
    for stack in ("encoder", "decoder"):
        config[stack] |= {"d_model": WIDTH, "layers": LAYERS} | changes
    file = tmp_path / "model.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    found = inspect(file, "--flops", "--source-length", SOURCE, "--target-length", TARGET)["operations"]
    with FlopCounterMode(display=False) as counter:
        logits = linear(model(tensor(SOURCE, WIDTH), tensor(TARGET, WIDTH)), VOCABULARY)
        assert found["forward"] == counter.get_total_flops()
        logits.sum().backward()
    assert found["training"] == counter.get_total_flops()
