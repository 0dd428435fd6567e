#!/usr/bin/env python3
"""The peer of `attend bench encode` for pictures: ONNX Runtime, one JSON line.

usage: bench/onnx_pictures.py [--preset vit-tiny] [--type int8] [--batch-size 32] [--threads 1] ...

transformers' ViTModel with random weights, as ONNX Runtime's own tools make it fast: attention, gelu and norms fused, then dynamic int8
for --type int8. A picture's vector is the mean of its rows, as attend makes it. Needs the packages of tools/requirements_bench.txt.
"""

import argparse
import json
import pathlib
import tempfile
import time

import numpy as np
import torch
import transformers
from ct2_translate import apart, resident_mb
from onnx_encode import load, make_fast
from shapes import PICTURES


class Vectors(torch.nn.Module):
    """The mean of the rows' vectors."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, pixel_values):
        return self.model(pixel_values=pixel_values).last_hidden_state.mean(dim=1)


def write_model(path, options):
    shape = PICTURES[options.preset]
    config = transformers.ViTConfig(
        image_size=shape.size, num_channels=shape.channels, patch_size=shape.patch, hidden_size=shape.stack.d_model,
        num_hidden_layers=shape.stack.layers, num_attention_heads=shape.stack.heads, intermediate_size=shape.stack.d_ff, attn_implementation="eager")
    model = Vectors(transformers.ViTModel(config, add_pooling_layer=False)).eval()
    torch.onnx.export(model, (torch.zeros(2, shape.channels, shape.size, shape.size),), path / "plain.onnx", input_names=["pixel_values"],
                      dynamic_axes={"pixel_values": {0: "batch"}}, dynamo=False)
    make_fast(path, "vit", config, options.type == "int8", op_types_to_quantize=["MatMul", "Attention"])


def measure(options, session):
    """Seconds of all pictures, the best of --repeats times."""
    shape, best = PICTURES[options.preset], float("inf")
    pictures = np.random.default_rng(1).standard_normal((options.texts, shape.channels, shape.size, shape.size), dtype=np.float32)
    for _ in range(options.repeats):
        begin = time.perf_counter()
        for first in range(0, options.texts, options.batch_size):
            vectors = session.run(None, {"pixel_values": pictures[first : first + options.batch_size]})[0]
        best = min(best, time.perf_counter() - begin)
    if not np.isfinite(vectors).all():
        raise SystemExit("the peer gives numbers that are not finite")
    return best


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=PICTURES, default="vit-tiny")
    parser.add_argument("--type", choices=["int8", "float32"], default="int8")
    for name, value in (("threads", 1), ("texts", 64), ("batch-size", 32), ("repeats", 3)):
        parser.add_argument("--" + name, type=int, default=value)
    return parser.parse_args()


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        apart(write_model, path, options)
        session, peer = load(path, options)
        print(json.dumps({
            "peer": peer, **vars(options), "peak_rss_mb": resident_mb("VmHWM"), "texts_per_s": options.texts / measure(options, session)}))


if __name__ == "__main__":
    main()
