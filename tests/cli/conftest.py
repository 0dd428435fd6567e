"""A small language model, its weights drawn at random."""

import hashlib
import json
import pathlib
import random
import shutil
import struct

import pytest

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "data/golden_v1"


def tensors_of(model):
    """Names and shapes of a decoder alone, in the paper's form."""
    stack = model["decoder"]
    d_model, d_ff = stack["d_model"], stack["d_ff"]
    yield "decoder.embedding.weight", [model["target_vocab_size"], d_model]
    for layer in range(stack["layers"]):
        prefix = f"decoder.layers.{layer}."
        for name in ("query", "key", "value", "output"):
            yield f"{prefix}self_attention.{name}.weight", [d_model, d_model]
        yield f"{prefix}feed_forward.inner.weight", [d_ff, d_model]
        yield f"{prefix}feed_forward.inner.bias", [d_ff]
        yield f"{prefix}feed_forward.outer.weight", [d_model, d_ff]
        yield f"{prefix}feed_forward.outer.bias", [d_model]
        for norm in ("self_attention_norm", "feed_forward_norm"):
            yield f"{prefix}{norm}.weight", [d_model]
            yield f"{prefix}{norm}.bias", [d_model]


def write_safetensors(path, tensors):
    generator = random.Random(7)
    header, data = {}, b""
    for name, shape in tensors:
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        mean = 1 if name.endswith("norm.weight") else 0
        values = struct.pack(f"<{count}f", *(mean + 0.3 * generator.gauss(0, 1) for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


@pytest.fixture(scope="session")
def language_model(tmp_path_factory):
    """With the golden model's vocabulary."""
    folder = tmp_path_factory.mktemp("language_model")
    config = json.loads((GOLDEN / "config.json").read_text(encoding="utf-8"))
    config["model"] |= {"task": "language_model", "languages": ["ka"], "encoder": None, "source_vocab_size": 0}
    shutil.copy(GOLDEN / "vocab.spm", folder)
    write_safetensors(folder / "model.safetensors", tensors_of(config["model"]))
    (folder / "samples.json").write_text("[]\n", encoding="utf-8")
    config["sha256"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in config["sha256"]}
    (folder / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    return folder
