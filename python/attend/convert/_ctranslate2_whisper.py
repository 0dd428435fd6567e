"""CTranslate2's directories of Whisper, as faster-whisper reads them: model.bin, config.json, tokenizer.json, preprocessor_config.json."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

from attend._errors import InputError
from attend.convert._compare import largest
from attend.convert._ctranslate2_file import ModelFile, read_model
from attend.convert._ctranslate2_weights import Weights
from attend.convert._files import Keys, read_json
from attend._packages import needed
from attend.convert._source import Converted, Languages, Source
from attend.convert._whisper import FIRST_OF_MANY, SAMPLES, TIMES_LEFT_OUT, Decoding, features, frames_of, make_model, put_kernel

SPECIFICATION, NEWEST = "WhisperSpec", 3
EPSILON = 1e-5
ROUNDING = 5e-3  # CTranslate2 differs by 1.1e-3 from attend on tiny.en's samples
GELU = 3  # an activation's number; the encoder's is not in the file
KEYS = ("alignment_heads", "suppress_ids", "suppress_ids_begin")


def _read(folder: pathlib.Path) -> ModelFile:
    file = read_model(folder / "model.bin")
    if file.specification != SPECIFICATION or file.revision > NEWEST:
        raise InputError(f"{file.where}: {file.specification} of revision {file.revision}, expected {SPECIFICATION} of at most {NEWEST}")
    usual = {"scale_embeddings": 0, "activation": GELU, "pre_norm": 1}
    for name, value in usual.items():
        if file.values.setdefault(f"encoder/{name}", np.array(value, np.int8)) != value:
            raise InputError(f"{file.where}: encoder/{name} is not {value}, which Whisper's is")
    return file


def _decoding(folder: pathlib.Path, rows: int) -> Decoding:
    config = Keys(folder / "config.json")
    lists = {key: config.get(key, list, []) for key in KEYS}
    return Decoding(rows >= FIRST_OF_MANY, lists["suppress_ids"], lists["suppress_ids_begin"], lists["alignment_heads"])


def _convert_between(folder: pathlib.Path, languages: Languages) -> Converted:
    file = _read(folder)
    weights = Weights(file, EPSILON)
    rows = len(weights.left.get("decoder/embeddings/weight", ()))
    weights.embedding("decoder", list(range(rows)), str(folder))
    mels = [put_kernel(weights.renamed, number, f"encoder/conv{number + 1}/") for number in (0, 1)][0]
    stacks = {side: weights.stack(side, side == "decoder") for side in ("encoder", "decoder")}
    if weights.head(list(range(rows))):
        raise InputError(f"{file.where}: the projection has a bias, which Whisper's lacks")
    ties = weights.tie()
    shape, vocabulary = make_model(folder, stacks, rows, frames_of(folder, mels), _decoding(folder, rows), languages)
    left_out = [TIMES_LEFT_OUT, *(["the rounding of sines and cosines: attend makes them in f32"] if weights.rounding > 0 else [])]
    return Converted(
        kind="CTranslate2's Whisper", model=shape | {"tie_target_output": ties["tie_target_output"]}, tensors=weights.finish(),
        source_vocabulary=vocabulary.content, target_vocabulary=vocabulary.content, texts=SAMPLES, left_out=left_out,
        tolerance=ROUNDING, provenance={"specification": f"{file.specification} {file.revision}", "file_version": file.version})


def _convert(folder: pathlib.Path) -> Converted:
    return _convert_between(folder, Languages())


def _recognises(folder: pathlib.Path) -> bool:
    path = folder / "config.json"
    config = read_json(path) if (folder / "model.bin").is_file() and path.exists() else None
    return isinstance(config, dict) and "suppress_ids" in config and (folder / "tokenizer.json").exists()


def _compare(source: str, output: str) -> float:
    """Of the tokens of texts: where CTranslate2 aligns, it tells their probabilities among the tokens before the end's, which are those
    of texts. The same is made of what plain PyTorch says."""
    with needed("--verify", "ctranslate2 torch"):
        import ctranslate2  # type: ignore[import-untyped, unused-ignore]
        import torch

        import attend.torch
    model = attend.torch.load(output)
    shape: dict[str, Any] = read_json(pathlib.Path(output) / "config.json")["model"]
    peer, differences = ctranslate2.models.Whisper(source, compute_type="float32"), []
    prompt = [shape["special_ids"]["bos"], *shape["target_begin"][:-1]]  # it adds <|notimestamps|>
    for sample, numbers in features(output):
        end = shape["special_ids"]["eos"]
        wrote = [i for i in sample["target_ids"] if i != end]
        view = ctranslate2.StorageView.from_array(np.ascontiguousarray(numbers))
        found = peer.align(view, prompt, [wrote], numbers.shape[2])[0].text_token_probs
        start = model.decoder_start()
        with torch.no_grad():
            logits = model(torch.tensor(numbers).transpose(1, 2), torch.tensor([[*start, *wrote[:-1]]]))[0, len(start) - 1 :, :end]
        ours = logits.double().log_softmax(-1)[torch.arange(len(wrote)), torch.tensor(wrote)]
        differences += np.abs(ours.numpy() - np.log(np.maximum(found, np.finfo(np.float32).tiny))).tolist()
    return largest(differences)


SOURCE = Source(
    "Whisper of CTranslate2 (model.bin, config.json with suppress_ids, tokenizer.json)", _recognises, _convert, _compare,
    convert_between=_convert_between)
