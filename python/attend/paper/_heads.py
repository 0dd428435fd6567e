"""Attention heads: copies of a model without some of them, and what each is worth in BLEU (Michel et al. 2019)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import pathlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import attend
from attend._attend import model_config
from attend._errors import InputError
from attend.paper._cells import Result
from attend.paper._work import Work

KINDS = {"encoder": "encoder self-attention", "decoder": "decoder self-attention", "cross": "cross-attention"}
STEPS = 10  # of pruning


class Head(NamedTuple):
    kind: str  # of KINDS
    layer: int  # from 1, as head
    head: int

    @property
    def name(self) -> str:
        return f"{self.kind} {self.layer}.{self.head}"

    @property
    def matrix(self) -> str:
        """W^O, whose columns are the heads'."""
        stack = "encoder" if self.kind == "encoder" else "decoder"
        return f"{stack}.layers.{self.layer - 1}.{'cross' if self.kind == 'cross' else 'self'}_attention.output.weight"


def config_of(model: pathlib.Path) -> dict[str, Any]:
    """`model` of config.json, with what older versions lack; of a translation model."""
    config: dict[str, Any] = json.loads(model_config(model))
    if config["task"] != "translation" or config["architecture"] != "transformer" or config["encoder"] is None or config["decoder"] is None:
        raise InputError(f"'{model}' has task {config['task']} and architecture {config['architecture']}, expected a transformer that translates")
    return config


def file_of(model: pathlib.Path) -> dict[str, Any]:
    """config.json as it is."""
    found: dict[str, Any] = json.loads((model / "config.json").read_text(encoding="utf-8"))
    return found


def heads_of(config: dict[str, Any]) -> list[Head]:
    """All of a model, kind by kind."""
    found = []
    for kind in KINDS:
        stack = config["encoder" if kind == "encoder" else "decoder"]
        if kind == "decoder" and stack["recurrence"] != "none":
            continue
        found += [Head(kind, layer, head) for layer in range(1, stack["layers"] + 1) for head in range(1, stack["heads"] + 1)]
    return found


def header_of(tensors: bytes | bytearray) -> tuple[dict[str, Any], int]:
    """What a model.safetensors says of each tensor, and where their bytes begin."""
    length = int.from_bytes(tensors[:8], "little")
    return json.loads(tensors[8 : 8 + length]), 8 + length


def check_type(model: pathlib.Path, heads: Sequence[Head]) -> None:
    """Raises InputError where a head can't be masked, because its W^O is not in f32."""
    header, _ = header_of((model / "model.safetensors").read_bytes())
    found = {header[head.matrix]["dtype"] for head in heads} - {"F32"}
    if found:
        raise InputError(f"'{model}' has weights of type {found.pop()}, expected F32; name the model that it was quantized from")


def mask(tensors: bytearray, heads: Sequence[Head], config: dict[str, Any]) -> None:
    """Makes the columns of W^O that read these heads zero, in the bytes of a model.safetensors."""
    header, start = header_of(tensors)
    for head in heads:
        entry = header[head.matrix]
        begin, end = (start + offset for offset in entry["data_offsets"])
        matrix = np.frombuffer(memoryview(tensors)[begin:end], dtype="<f4").reshape(entry["shape"])
        width = entry["shape"][1] // config["encoder" if head.kind == "encoder" else "decoder"]["heads"]
        matrix[:, (head.head - 1) * width : head.head * width] = 0


@contextlib.contextmanager
def without(model: pathlib.Path, heads: Sequence[Head]) -> Iterator[pathlib.Path]:
    """A copy of the model whose heads add nothing. It has no samples: they would be another model's."""
    config = file_of(model)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path in model.iterdir():
            if path.name.startswith("vocab") or path.name.endswith(".spm") or path.name == "tokenizer.json":
                shutil.copy(path, folder)
        tensors = bytearray((model / "model.safetensors").read_bytes())
        mask(tensors, heads, config_of(model))
        (folder / "model.safetensors").write_bytes(tensors)
        config["sha256"]["model.safetensors"] = hashlib.sha256(tensors).hexdigest()
        config["sha256"].pop("samples.json", None)
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        yield folder


class Importance:
    """BLEU of a model without some of its heads; what is measured already is kept."""

    def __init__(self, work: Work, model: pathlib.Path) -> None:
        self.work, self.model, self.config, self.file = work, model, config_of(model), file_of(model)
        self.heads = heads_of(self.config)
        check_type(model, self.heads)
        self.source, self.target = (first_lines(work, f"multi30k/val.{language}") for language in ("en", "de"))

    def bleu(self, name: str, heads: Sequence[Head]) -> float | None:
        """Of the validation text; None: it is not measured, and there is no time left for it."""
        settings: Result = {"model": self.file["sha256"]["model.safetensors"], "sentences": len(self.source), "heads": [head.name for head in heads]}
        found = self.work.cell(f"figures/{name}", settings, lambda: self.measure(heads))
        return None if found is None else found["bleu"]

    def measure(self, heads: Sequence[Head]) -> Result:
        with without(self.model, heads) as folder:
            translator = attend.Translator(folder, threads=self.work.settings.threads)
            outputs = [str(line) for line in translator.translate(self.source, beam_size=1)]
        small = (self.file.get("tokenization") or {}).get("case") == "lower"
        return {"bleu": float(attend.bleu(outputs, self.target, lowercase=small))}

    def costs(self, whole: float) -> dict[Head, float]:
        """BLEU that masking each head costs, of those that are measured."""
        found = {head: self.bleu(f"without/{head.name}", [head]) for head in self.heads}
        return {head: whole - bleu for head, bleu in found.items() if bleu is not None}

    def pruning(self, costs: dict[Head, float], whole: float) -> list[Result]:
        """The heads that cost least go first, a tenth at a time."""
        if len(costs) < len(self.heads):
            return []
        order = sorted(self.heads, key=lambda head: (costs[head], head))
        points: list[Result] = [{"pruned": 0, "bleu": whole}]
        for step in range(1, STEPS + 1):
            count = round(step * len(order) / STEPS)
            bleu = self.bleu(f"pruned/{count}", order[:count])
            if bleu is not None:
                points.append({"pruned": count, "bleu": bleu})
        return points


def first_lines(work: Work, name: str) -> list[str]:
    lines = work.text(name).read_text(encoding="utf-8").splitlines()
    return lines[: work.settings.sentences]
