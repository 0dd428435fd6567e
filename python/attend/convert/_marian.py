"""Marian's own models: .npz, or .bin with f32 or 8-bit weights, with SentencePiece vocabularies or lists of words.

Bergamot's students are such models.

Weight matrices are [in, out]. Sinusoids are tensor2tensor's timing signal, norms have an epsilon of 1e-6, and the decoder starts from a
vector of zeros. What decides the architecture stands in the model itself, as YAML.
"""

from __future__ import annotations

import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile
from typing import Any

import numpy as np

from attend._attend import Translator
from attend._errors import InputError, RunError
from attend.convert import _shortlist
from attend.convert._compare import largest
from attend.convert._files import Keys, Renamed, read_json
from attend._packages import needed
from attend.convert._source import Converted, Source, Tensors, model, sample_texts, stack
from attend.convert._vocabulary import of_words, pieces_of, with_tokens

ACTIVATIONS = {"swish": "silu", "relu": "relu"}
OPTIONS = "special:model.yml"
# What attend has in one form only, by the value it must have.
ONLY = {
    "type": "transformer", "transformer-ffn-depth": 2, "transformer-tied-layers": [], "transformer-no-projection": False, "skip": False,
    "right-left": False, "input-types": [], "lemma-dim-emb": 0, "ulr": False, "transformer-pool": False,
    "transformer-no-affine": False, "transformer-alibi-shift": False, "transformer-alibi-trainable": False,
    "transformer-attention-mask": "default", "transformer-rnn-projection": False}
# By transformer-preprocess, -postprocess and -postprocess-top, without their dropout.
NORM_PLACES = {("", "an", ""): "post", ("n", "a", "n"): "pre"}
_F32, _INT8, _INTGEMM8 = 0x404, 0x101, 0x4101


def _options(text: str, path: pathlib.Path) -> Keys:
    with needed("reading Marian's options", "pyyaml"):
        import yaml
    try:
        values = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:  # such as a date that is none
        raise InputError(f"{path}: its options are no YAML: {(str(error).splitlines() or [''])[0]}") from error
    if not isinstance(values, dict):
        raise InputError(f"{path}: its options are no YAML mapping")
    return Keys(path, values)


def _read_npz(path: pathlib.Path) -> dict[str, np.ndarray[Any, Any]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except Exception as error:  # what each way of packing raises
        raise InputError(f"{path}: not a whole .npz file: {error}") from error


class _Binary:
    """A .bin file of version 1, read with bounds (docs of the layout: marian's src/common/binary.cpp)."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path, self.bytes, self.at = path, path.read_bytes(), 0

    def take(self, size: int) -> bytes:
        if size < 0 or size > len(self.bytes) - self.at:
            raise InputError(f"{self.path}: the file is cut short")
        self.at += size
        return self.bytes[self.at - size : self.at]

    def numbers(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}Q", self.take(8 * count))

    def read(self) -> dict[str, np.ndarray[Any, Any]]:
        version, count = self.numbers(2)
        if version != 1 or count > len(self.bytes) // 32:
            raise InputError(f"{self.path}: version {version} of Marian's binary files, expected 1")
        headers = [self.numbers(4) for _ in range(count)]
        names = [self.take(header[0]).rstrip(b"\0").decode("utf-8", "replace") for header in headers]
        shapes = [struct.unpack(f"<{header[2]}i", self.take(4 * header[2])) for header in headers]
        self.take(self.numbers(1)[0])
        return {name: self.array(name, header, shape) for name, header, shape in zip(names, headers, shapes, strict=True)}

    def array(self, name: str, header: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        kind, data = header[1], self.take(header[3])
        size = math.prod(shape) if min(shape, default=0) >= 0 else sys.maxsize
        if kind in (_F32, _INT8) and len(data) >= size * (4 if kind == _F32 else 1):
            return np.frombuffer(data, np.float32 if kind == _F32 else np.int8, size).reshape(shape)
        if kind == _INTGEMM8 and len(shape) == 2 and size <= len(data) - 4:
            return self.dequantized(name, data, shape)
        raise InputError(
            f"{self.path}: tensor '{name}' has type {kind:#x}, shape {list(shape)} and {len(data)} bytes, expected f32, or intgemm8 of 2 "
            "dimensions, with all its bytes")

    def dequantized(self, name: str, data: bytes, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """Integers that are [out, in], with what they were multiplied by behind them; embeddings are [V, D] as others have them."""
        (multiplier,) = struct.unpack_from("<f", data, math.prod(shape))
        if not (0 < multiplier < math.inf):
            raise InputError(f"{self.path}: tensor '{name}' was multiplied by {multiplier}, expected a number above 0")
        integers = np.frombuffer(data, np.int8, math.prod(shape)).astype(np.float32) / multiplier
        return integers.reshape(shape) if "Wemb" in name else integers.reshape(shape[::-1]).T


def _find_model(path: pathlib.Path) -> pathlib.Path | None:
    """The model file that `path` is, or the one that the folder has."""
    found = models(path)
    return found[0] if len(found) == 1 else None


def models(path: pathlib.Path) -> list[pathlib.Path]:
    """The model files that `path` is or has."""
    files = [path] if path.is_file() else sorted(path.glob("*.npz")) + sorted(path.glob("*.bin"))
    return [file for file in files if file.is_file() and _is_model(file)]


def _is_model(path: pathlib.Path) -> bool:
    if path.suffix == ".npz":
        try:
            with zipfile.ZipFile(path) as file:
                return OPTIONS + ".npy" in file.namelist()
        except Exception:  # a damaged directory of files makes zipfile raise more than its own errors
            return False
    if path.suffix != ".bin":
        return False
    with path.open("rb") as file:
        return file.read(8) == struct.pack("<Q", 1) and OPTIONS.encode() in file.read(1 << 20)


def _vocabularies(path: pathlib.Path) -> list[pathlib.Path]:
    """Of source and target: those that a file of options beside the model names, or the only one there."""
    for sidecar in sorted(path.parent.glob("*.yml")):
        try:
            names = _options(sidecar.read_text(encoding="utf-8", errors="replace"), sidecar).values.get("vocabs")
        except InputError:  # such as a vocabulary, whose tokens may mean something in YAML
            continue
        if isinstance(names, list) and len(names) == 2 and all(isinstance(name, str) for name in names):
            files = [path.parent / pathlib.Path(name).name for name in names]
            if all(file.exists() for file in files):
                break
    else:
        files = sorted(path.parent.glob("*.spm")) * 2
    if len(files) != 2:
        raise InputError(
            f"'{path.parent}' has no vocabulary that is known to be the model's, expected one .spm file, or the options of training "
            "(.npz.yml), which name its vocabularies")
    return files


def _listed_tokens(file: pathlib.Path, size: int) -> list[str]:
    """By id, of a file that maps tokens to ids (YAML or JSON); Marian reads the first `size`."""
    import yaml

    try:
        ids = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # which knows texts only: "no" is a word
        tokens = {int(i): token for token, i in ids.items()}
    except (yaml.YAMLError, RecursionError, AttributeError, TypeError, ValueError) as error:
        raise InputError(f"{file}: expected YAML or JSON that gives each token an id") from error
    if len(tokens) < len(ids) or sorted(tokens) != list(range(len(tokens))):
        raise InputError(f"{file}: expected the ids 0 to {len(ids) - 1}, each once")
    return [tokens[i] for i in range(min(size, len(tokens)))]


def _read_vocabulary(file: pathlib.Path, size: int, special: dict[str, int]) -> tuple[list[str], bytes]:
    """Its tokens, and the vocabulary that they make: words between spaces where there is no SentencePiece model."""
    if file.suffix == ".spm":
        content = file.read_bytes()
        tokens = pieces_of(content, str(file))
    elif file.suffix in (".yml", ".yaml", ".json"):
        tokens = _listed_tokens(file, size)
    else:
        raise InputError(f"'{file}' is a vocabulary of another kind, which attend lacks; expected .spm, .yml or .json")
    if len(tokens) != size or tokens[:2] != ["</s>", "<unk>"]:
        raise InputError(f"{file}: {len(tokens)} tokens, expected {size} that begin with </s> and <unk>, as the model has them")
    return tokens, with_tokens(content, tokens, special) if file.suffix == ".spm" else of_words(tokens, special, {"</s>", "<unk>"})


class _Marian:
    """Marian's tensors under attend's names."""

    def __init__(self, tensors: dict[str, np.ndarray[Any, Any]], options: Keys, where: str) -> None:
        self.renamed, self.options = Renamed(tensors, where), options
        self.norm_place = self.find_norm_place()
        self.embedding_norm = "n" in options.get("transformer-postprocess-emb", str, "d")
        self.positions = len(self.renamed.table("positions", "Wpos")) if "Wpos" in tensors else 0
        self.table_of_positions = self.renamed.tensors.pop("positions", None)
        self.ssru = options.choose("transformer-decoder-autoreg", {"self-attention": False, "rnn": True}, "self-attention")
        if self.ssru:
            options.choose("dec-cell", {"ssru": True}, "ssru")

    def find_norm_place(self) -> str:
        keys = ("transformer-preprocess", "transformer-postprocess", "transformer-postprocess-top")
        found = tuple(self.options.get(key, str, usual) for key, usual in zip(keys, ("", "dan", ""), strict=True))
        place = NORM_PLACES.get(tuple(operations.replace("d", "") for operations in found))  # type: ignore[call-overload]
        if place is None:
            raise InputError(
                f"{self.renamed.where}: {', '.join(keys)} are {', '.join(map(repr, found))}, which attend lacks; "
                "expected '', 'dan', '' (norms after the sub-layers) or 'n', 'da', 'n' (before them)")
        return str(place)

    def matrix(self, name: str, given: str) -> None:
        self.renamed.take(name, given)
        self.renamed.tensors[name] = np.ascontiguousarray(self.renamed.tensors[name].T, np.float32)

    def vector(self, name: str, given: str) -> None:
        self.renamed.take(name, given)
        self.renamed.tensors[name] = np.ascontiguousarray(self.renamed.tensors[name].reshape(-1), np.float32)

    def table(self, name: str, given: str) -> None:
        self.renamed.table(name, given)
        self.renamed.tensors[name] = np.ascontiguousarray(self.renamed.tensors[name], np.float32)

    def norm(self, name: str, given: str, suffix: str = "") -> None:
        self.vector(name + ".weight", f"{given}_scale{suffix}")
        self.vector(name + ".bias", f"{given}_bias{suffix}")

    def sublayer_norm(self, name: str, given: str) -> None:
        self.norm(name, given, "_pre" if self.norm_place == "pre" else "")

    def attention(self, name: str, given: str) -> None:
        for part, letter in (("query", "q"), ("key", "k"), ("value", "v"), ("output", "o")):
            self.matrix(f"{name}.{part}.weight", f"{given}_W{letter}")
            self.vector(f"{name}.{part}.bias", f"{given}_b{letter}")
        self.sublayer_norm(name + "_norm", given + "_Wo_ln")

    def layer(self, name: str, given: str, side: str) -> None:
        if side == "decoder" and self.ssru:
            self.matrix(name + ".recurrence.input.weight", given + "_rnn_W")
            self.matrix(name + ".recurrence.forget.weight", given + "_rnn_Wf")
            self.vector(name + ".recurrence.forget.bias", given + "_rnn_bf")
            self.sublayer_norm(name + ".recurrence_norm", given + ("_rnn_ln" if self.norm_place == "pre" else "_rnn_ffn_ln"))
        else:
            self.attention(name + ".self_attention", given + "_self")
        if side == "decoder":
            self.attention(name + ".cross_attention", given + "_context")
        for part, number in (("inner", 1), ("outer", 2)):
            self.matrix(f"{name}.feed_forward.{part}.weight", f"{given}_ffn_W{number}")
            self.vector(f"{name}.feed_forward.{part}.bias", f"{given}_ffn_b{number}")
        self.sublayer_norm(name + ".feed_forward_norm", given + "_ffn_ffn_ln")

    def rename(self) -> Tensors:
        left = self.renamed.left
        if "Wemb" in left:
            self.table("encoder.embedding.weight", "Wemb")
        else:
            self.table("encoder.embedding.weight", "encoder_Wemb")
            self.table("decoder.embedding.weight", "decoder_Wemb")
        for side, depth in (("encoder", "enc-depth"), ("decoder", "dec-depth")):
            if self.embedding_norm:
                self.norm(f"{side}.embedding_norm", f"{side}_emb_ln", "_pre" if f"{side}_emb_ln_scale_pre" in left else "")
            if self.positions:
                self.renamed.tensors[f"{side}.positions.weight"] = np.ascontiguousarray(self.table_of_positions, np.float32)
            for layer in range(self.options.get(depth, int)):
                self.layer(f"{side}.layers.{layer}", f"{side}_l{layer + 1}", side)
            if self.norm_place == "pre":
                self.norm(f"{side}.norm", f"{side}_top_ln")
        if "decoder_ff_logit_out_b" in left:
            self.vector("head.bias", "decoder_ff_logit_out_b")
        if "decoder_ff_logit_out_Wt" in left:
            self.table("head.weight", "decoder_ff_logit_out_Wt")
        elif "decoder_ff_logit_out_W" in left:
            self.matrix("head.weight", "decoder_ff_logit_out_W")
        return self.renamed.finish()

    def stack(self, side: str, depth: str) -> dict[str, Any]:
        options = self.options
        fields = {
            "layers": options.get(depth, int), "d_model": options.get("dim-emb", int), "heads": options.get("transformer-heads", int),
            "d_ff": options.get("transformer-dim-ffn", int), "activation": options.choose("transformer-ffn-activation", ACTIVATIONS, "swish"),
            "norm_place": self.norm_place, "position_convention": "timing_signal", "embedding_norm": self.embedding_norm}
        if self.positions:  # to which Marian adds embeddings as they are
            fields |= {"positions": "learned", "max_positions": self.positions, "scale_embedding": False}
        elif options.get("transformer-disable-position-embeddings", bool, False):
            fields |= {"positions": "none", "scale_embedding": False}
        if side == "decoder":
            fields["d_ff"] = options.get("transformer-decoder-dim-ffn", int, 0) or fields["d_ff"]
            fields["recurrence"] = "ssru" if self.ssru else "none"
        return stack(**fields)


def _convert(source: pathlib.Path) -> Converted:
    path = _find_model(source)
    assert path is not None
    tensors = _read_npz(path) if path.suffix == ".npz" else _Binary(path).read()
    if OPTIONS not in tensors:
        raise InputError(f"{path}: tensor '{OPTIONS}' is missing")
    text = tensors.pop(OPTIONS).astype(np.uint8).tobytes().rstrip(b"\0").decode("utf-8", "replace")
    options = _options(text, path)
    options.refuse(**ONLY)
    alphas = [name for name in tensors if name.endswith("_QuantMultA")]
    for name in alphas:
        del tensors[name]
    marian = _Marian(tensors, options, str(path))
    found = marian.rename()
    shared = "decoder.embedding.weight" not in found
    sizes = [len(found["encoder.embedding.weight"]), len(found["encoder.embedding.weight" if shared else "decoder.embedding.weight"])]
    files, special = _vocabularies(path), {"pad": -1, "unk": 1, "bos": -1, "eos": 0}
    vocabularies = [_read_vocabulary(file, size, special) for file, size in zip(files, sizes, strict=True)]
    words = vocabularies[0][0] if files[0].suffix == ".spm" else ["▁" + token for token in vocabularies[0][0]]
    shortlist = _shortlist.find(path.parent)
    return Converted(
        kind="Marian", shortlist=None if shortlist is None else _shortlist.read(shortlist, sizes, shared),
        model=model(
            source_vocab_size=sizes[0], target_vocab_size=sizes[1], special_ids=special, head_bias="head.bias" in found,
            tie_source_target=shared, tie_target_output="head.weight" not in found, encoder=marian.stack("encoder", "enc-depth"),
            decoder=marian.stack("decoder", "dec-depth")),
        tensors=found, source_vocabulary=vocabularies[0][1], target_vocabulary=vocabularies[1][1], texts=sample_texts(words),
        left_out=[f"{len(alphas)} factors of 8-bit activations: attend finds its own as it runs"] if alphas else [],
        provenance={"options": text})


# As `python -m pymarian`, which would look for modules in the working directory first.
_PYMARIAN = "import runpy, sys; sys.path[:] = [path for path in sys.path if path]; runpy.run_module('pymarian', run_name='__main__', alter_sys=True)"


def _scores_of_marian(path: pathlib.Path, sources: list[str], targets: list[str]) -> list[list[float]]:
    """Log-probabilities of each target's tokens by Marian's scorer, in a process of its own: Marian ends what it can't run in."""
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder) / name for name in ("source", "target")]
        for file, lines in zip(files, (sources, targets), strict=True):
            file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", _PYMARIAN, "score", "--model", path, "--vocabs", *_vocabularies(path), "--train-sets", *files,
             "--word-scores", "--cpu-threads", "1"], capture_output=True, text=True, encoding="utf-8", errors="replace", check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines()
        reasons = [line for line in said if "Error: " in line] or said[-1:] or ["it says nothing"]
        raise RunError(f"Marian can't score {path}: {reasons[0]}")
    return [[float(word) for word in line.partition("WordScores=")[2].split()] for line in done.stdout.splitlines()]


def _compare(source: str, output: str) -> float:
    """Marian reads text, not ids, so both sides score the samples' texts."""
    with needed("--verify", "pymarian"):
        import pymarian  # type: ignore[import-not-found, unused-ignore]  # noqa: F401
    path = _find_model(pathlib.Path(source))
    assert path is not None
    samples = [sample for sample in read_json(pathlib.Path(output) / "samples.json") if sample["target"]]
    texts = [sample["source"] for sample in samples], [sample["target"] for sample in samples]
    expected = _scores_of_marian(path, *texts)
    found = [list(score.token_log_probabilities) for score in Translator(output).score(*texts)]
    if list(map(len, found)) != list(map(len, expected)):
        raise RunError(f"the samples have {list(map(len, found))} tokens, Marian's vocabulary makes {list(map(len, expected))} of them")
    return largest(abs(a - b) for ours, theirs in zip(found, expected, strict=True) for a, b in zip(ours, theirs, strict=True))


SOURCE = Source(
    "a model of Marian (.npz or .bin, with .spm or .yml beside it)", lambda path: _find_model(path) is not None, _convert, _compare)
