"""The native engine against CTranslate2, an implementation that shares nothing with it, on models that `attend export`
wrote for it: the golden model, and random ones that between them use what both sides know."""

import copy
import gzip
import hashlib
import itertools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest
from random_model import write_safetensors

pytest.importorskip("ctranslate2", reason="the peer is missing: pip install -r tools/requirements_tests.txt")
import compare_outputs  # noqa: E402  (needs the peer)

ROOT = pathlib.Path(__file__).resolve().parents[2]
ATTEND = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build")) / "attend"
GOLDEN = ROOT / "tests/data/golden_v1"
GATED = ("swiglu", "geglu_tanh")
WORDS = "lumi tavo keri sona mipa rudu vesta olin paku neri dosa ilvo brant grau holm jarn kvist myrr noord prax".split()
SENTENCES = 200

BOTH = {
    "pre_norm_gelu": {"norm_place": "pre", "activation": "gelu", "attention_bias": True, "norm_epsilon": 1e-5},
    "swiglu_learned": {"activation": "swiglu", "positions": "learned", "max_positions": 80, "position_offset": 2, "feed_forward_bias": False},
    "halves_offset": {"position_convention": "halves", "position_offset": 3, "scale_embedding": False},
    "silu_timing_signal": {"activation": "silu", "position_convention": "timing_signal", "attention_bias": True},
    "geglu_tanh": {"activation": "geglu_tanh", "norm_place": "pre"},
    "gelu_tanh": {"activation": "gelu_tanh"},
    "no_positions": {"positions": "none", "heads": 2},
}


def stack_shapes(name, stack, cross):
    """Names and shapes of docs/model_file.md."""
    width, inner = stack["d_model"], stack["d_ff"]
    parts = ("self", "cross") if cross else ("self",)
    for layer, part in itertools.product(range(stack["layers"]), parts):
        prefix = f"{name}.layers.{layer}.{part}_attention"
        for matrix in ("query", "key", "value", "output"):
            yield f"{prefix}.{matrix}.weight", (width, width)
            if stack["attention_bias"]:
                yield f"{prefix}.{matrix}.bias", (width,)
        yield from ((f"{prefix}_norm.{kind}", (width,)) for kind in ("weight", "bias"))
    for layer in range(stack["layers"]):
        prefix = f"{name}.layers.{layer}.feed_forward"
        for matrix in ("inner", "gate", "outer") if stack["activation"] in GATED else ("inner", "outer"):
            shape = (width, inner) if matrix == "outer" else (inner, width)
            yield f"{prefix}.{matrix}.weight", shape
            if stack["feed_forward_bias"]:
                yield f"{prefix}.{matrix}.bias", shape[:1]
        yield from ((f"{prefix}_norm.{kind}", (width,)) for kind in ("weight", "bias"))
    if stack["norm_place"] == "pre":
        yield from ((f"{name}.norm.{kind}", (width,)) for kind in ("weight", "bias"))
    if stack["positions"] == "learned":
        yield f"{name}.positions.weight", (stack["max_positions"], width)


def deviation(name):
    """Of a tensor's numbers: so that outputs depend on their inputs, and neither run on for ever nor end at once."""
    if "norm" in name or "embedding" in name:
        return 0.4
    return 0.3 if name.startswith("head") else 0.6 if "cross_attention" in name else 0.2


def random_tensors(model, seed):
    generator = np.random.default_rng(seed)
    width, size = model["encoder"]["d_model"], model["source_vocab_size"]
    shapes = {name: (size, width) for name in ("encoder.embedding.weight", "decoder.embedding.weight", "head.weight")}
    shapes["head.bias"] = (size,)
    for name in ("encoder", "decoder"):
        shapes |= dict(stack_shapes(name, model[name], name == "decoder"))
    tensors = {
        name: (deviation(name) * generator.standard_normal(shape) + name.endswith("norm.weight")).astype("<f4")
        for name, shape in shapes.items()
    }
    ids = model["special_ids"]  # outputs end sooner or later, and hold no bos or padding
    tensors["head.bias"][[ids["pad"], ids["bos"]]] = -30
    tensors["head.bias"][ids["eos"]] = 2
    return tensors


def write_model(folder, model, tensors):
    """A model directory with the golden model's vocabulary for both sides."""
    folder.mkdir()
    write_safetensors(folder / "model.safetensors", tensors.items())
    shutil.copy(GOLDEN / "vocab.spm", folder)
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("model.safetensors", "vocab.spm")}
    stacks = {side: model[side] | {"embedding_norm": False, "recurrence": "none"} for side in ("encoder", "decoder")}
    model = model | {
        "head_transform": False, "head_pooler": False, "pooling": "tokens", "labels": [], "label_scheme": "none", "crf": False, **stacks}
    config = {
        "format_version": 4, "model": model, "training_text": None, "tokenization": {}, "provenance": {}, "sha256": digests}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return folder


@pytest.fixture(name="make_model")
def fixture_make_model(tmp_path):
    golden = json.loads((GOLDEN / "config.json").read_text("utf-8"))["model"]

    def make(changes):
        model = copy.deepcopy(golden)
        model["encoder"] |= changes
        model["decoder"] |= changes
        model |= {"tie_source_target": False, "tie_target_output": False, "head_bias": True}
        return write_model(tmp_path / "model", model, random_tensors(model, 1))

    return make


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_lines_are_those_that_attend_reads(end, tmp_path):
    text = f"a\r\n\r\nb \r c\x0cd\u2028e\n\xe9\nf{end}".encode()
    lines = ["a", "", "b \r c\x0cd\u2028e", "\xe9", "f"]
    (tmp_path / "text").write_bytes(text)
    (tmp_path / "text.gz").write_bytes(gzip.compress(text))
    assert compare_outputs.read_lines(tmp_path / "text") == compare_outputs.read_lines(tmp_path / "text.gz") == lines
    (tmp_path / "text").write_bytes(b"\xff\r")
    assert compare_outputs.read_lines(tmp_path / "text") == ["\ufffd\r"]


@pytest.mark.parametrize("intra", [1, 2])
def test_the_peer_measures_what_was_asked(intra, tmp_path):
    (tmp_path / "text").write_text("lumi tavo\nkeri", "utf-8")
    sentences = []
    for given in (["--preset", "tiny", "--vocab-size", 99, "--sentences", 5], ["--model", GOLDEN, "--input", tmp_path / "text"]):
        command = [sys.executable, ROOT / "bench/ct2_translate.py", "--threads", 2, "--intra-threads", intra, "--repeats", 1, *given]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        report = json.loads(done.stdout)
        assert 0 < report["base_rss_mb"] <= report["peak_rss_mb"]
        sentences.append(report["sentences"])
    assert report["target_tokens"] > 0
    assert sentences == [5, 2]


def check_alike(model, folder, beam_size):
    options = types.SimpleNamespace(beam_size=beam_size, max_length=40, threads=1, type="float32", batch_size=32)
    source = random.Random(7)
    lines = [" ".join(source.choices(WORDS, k=source.randint(1, 12))) for _ in range(SENTENCES)]
    compare_outputs.convert(model, folder, ATTEND)
    ours = compare_outputs.attend_outputs(ATTEND, model, lines, options)
    theirs, _ = compare_outputs.peer_outputs(folder, model, lines, options)
    report = compare_outputs.compare(ours, theirs)
    assert len({text for text, _ in ours}) >= 20  # or the model says the same to everything
    assert report["same"] >= 0.98, report
    assert report["largest_difference"] <= 1e-3, report


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize("name", BOTH)
def test_every_variant_translates_alike(name, beam_size, make_model, tmp_path):
    check_alike(make_model(BOTH[name]), tmp_path / "converted", beam_size)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_the_golden_model_translates_alike(beam_size, tmp_path):
    check_alike(GOLDEN, tmp_path / "converted", beam_size)


def test_what_the_peer_cannot_express_is_an_error(tmp_path):
    variant = GOLDEN.with_name("golden_v1_variant")
    with pytest.raises(SystemExit, match=r"encoder\.d_k is 5, which CTranslate2 lacks; expected d_model / heads"):
        compare_outputs.convert(variant, tmp_path / "out", ATTEND)
    assert not (tmp_path / "out").exists()
