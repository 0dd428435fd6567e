"""Model directories with random weights, for tests of exports: tensors shaped as those of attend.torch, vocabularies by `attend vocab`."""

import json
import random
from types import SimpleNamespace

import attend.torch
import numpy as np
from attend._attend import write_model
from attend.convert._source import model, stack
from package import program
from safetensors.numpy import load_file

WORDS = "lumi tavo keri sona mipa rudu vesta olin paku neri dosa ilvo brant grau holm jarn kvist myrr noord prax Ähre æon naïve".split()
ENDINGS = ["", "", "ta", "nen", "ssa", "iin", "lla"]
IDS = {"pad": 0, "unk": 1, "bos": 2, "eos": 3}  # of `attend vocab`
WIDTH = 32
SHAPE = {"layers": 2, "d_model": WIDTH, "heads": 4, "d_ff": 48}


def sentences(count, seed):
    numbers = random.Random(seed)
    ends = ["", " .", " 12 !"]
    return [
        " ".join(numbers.choice(WORDS) + numbers.choice(ENDINGS) for _ in range(numbers.randint(1, 12))) + numbers.choice(ends)
        for _ in range(count)]


def vocabulary(folder, *options, size=110, seed=1, lines=None):
    """A vocabulary file's bytes, of random sentences or of these lines."""
    (folder / "text").write_text("\n".join(lines or sentences(400, seed)) + "\n", encoding="utf-8")
    program("vocab", "--input", folder / "text", "--output", folder / "vocab", "--size", size, "--quiet", *options)
    return (folder / "vocab").read_bytes()


def pieces(content, folder):
    path = folder / "pieces"
    path.write_bytes(content)
    loaded = attend.Vocabulary(path)
    return [loaded.piece(i) for i in range(len(loaded))]


def deviation(name):
    """Of a tensor's numbers: so that outputs depend on inputs, and neither run on for ever nor end at once."""
    if "norm" in name or "embedding" in name or "positions" in name:
        return 0.4
    return 0.3 if name.startswith("head") else 0.6 if "cross_attention" in name else 0.2


def tensors_of(config, seed):
    """Random tensors of a `model` of config.json."""
    shapes = attend.torch.Transformer(json.loads(json.dumps(config), object_hook=lambda members: SimpleNamespace(**members))).state_dict()
    numbers = np.random.default_rng(seed)
    return {
        name: (deviation(name) * numbers.standard_normal(tuple(value.shape)) + name.endswith("norm.weight")).astype(np.float32)
        for name, value in shapes.items()}


def write(folder, config, source, target=None, change=None):
    """A model directory; `change` may alter its tensors."""
    tensors = tensors_of(config, seed=1)
    if change:
        change(tensors)
    write_model(json.dumps(config), tensors, source, target or source, "{}", sentences(4, 7) if source else [], folder)
    return folder


def translation(size, encoder=None, decoder=None, **fields):
    """`model` of a translation model; what is given of the encoder holds for the decoder too."""
    shape = SHAPE | (encoder or {})
    usual = {"source_vocab_size": size, "target_vocab_size": size, "special_ids": IDS, "head_bias": True}
    return model(**(usual | fields), encoder=stack(**shape), decoder=stack(**(shape | (decoder or {}))))


def ending(tensors, ids):
    """Outputs end sooner or later, and hold no padding."""
    tensors["head.bias"][[i for i in ids.values() if i >= 0]] = -30
    tensors["head.bias"][ids["eos"]] = 4


def same_bits(one, other):
    """Whether two model directories have the same tensors."""
    one, other = (load_file(folder / "model.safetensors") for folder in (one, other))
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)
