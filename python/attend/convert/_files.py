"""Reading what importers share: settings with checked keys, pickles, and weights."""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import re
from typing import Any

import numpy as np

from attend._errors import InputError
from attend._packages import needed
from attend.convert._source import NamedTensors, Tensors

_BEGINNING = 4 << 20  # in which a pickle's keys stand
MOST = 1 << 31  # of anything that is counted
# Of generation_config.json: what becomes part of the model, and what says nothing of outputs.
KNOWN = {
    "_from_model_config", "bos_token_id", "cache_implementation", "decoder_start_token_id", "eos_token_id", "forced_bos_token_id",
    "output_attentions", "output_hidden_states", "output_scores", "pad_token_id", "return_dict_in_generate", "transformers_version",
    "use_cache"}
SEARCH = (  # of older config.json files
    "bad_words_ids", "early_stopping", "forced_eos_token_id", "length_penalty", "max_length", "min_length", "no_repeat_ngram_size",
    "num_beams", "num_beam_groups", "repetition_penalty", "suppress_tokens")
INDEX = ".index.json"  # of weights in several files


def read_json(path: pathlib.Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"can't read '{path}': {error.strerror}") from error
    except (RecursionError, ValueError) as error:
        raise InputError(f"{path}: not JSON: {error}") from error


def is_text(value: str) -> bool:
    """Whether UTF-8 can write it, which has no lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def read_bytes(path: pathlib.Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"can't read '{path}': {error.strerror}") from error


def read_text(path: pathlib.Path) -> str:
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8: {error}") from error


def token_of(settings: dict[str, Any], name: str, usual: str) -> str:
    """A special token of tokenizer_config.json, which stands there as a text or with how it is read."""
    value = settings.get(name) or usual
    return str(value.get("content") if isinstance(value, dict) else value)


def shown(value: Any) -> str:
    """A value of a file as JSON, if it can be written so."""
    try:
        return json.dumps(value, default=repr, skipkeys=True)
    except (RecursionError, ValueError):  # it holds itself
        return f"a {type(value).__name__}"


def named_values(settings: Any) -> dict[str, Any] | None:
    """Those of a namespace or a dictionary, None left out; none for anything else."""
    values = vars(settings) if isinstance(settings, argparse.Namespace) else settings
    if not isinstance(values, dict):
        return None
    return {name: value for name, value in values.items() if isinstance(name, str) and value is not None}


class Keys:
    """Settings that are asked for by name, with errors that name the file and the key: a file's JSON object, or `values`."""

    def __init__(self, path: pathlib.Path, values: dict[str, Any] | None = None) -> None:
        self.path, self.values = path, read_json(path) if values is None else values
        if not isinstance(self.values, dict):
            raise InputError(f"{path}: expected a JSON object")

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        value = self.values.get(key, default)
        wrong = value is None or not isinstance(value, kind) or (kind is int and isinstance(value, bool))
        if wrong or (kind is float and not math.isfinite(value)):
            raise InputError(f"{self.path}: {key} is {shown(value)}, expected {kind.__name__}")
        return value

    def count(self, key: str, default: int | None = None) -> int:
        value = int(self.get(key, int, default))
        if not 0 < value <= MOST:
            raise InputError(f"{self.path}: {key} is {value}, expected 1 to {MOST}")
        return value

    def token(self, key: str, tokens: int, default: int | None = None) -> int:
        """The id of one of so many tokens."""
        value = int(self.get(key, int, default))
        if not 0 <= value < tokens:
            raise InputError(f"{self.path}: {key} is {value}, expected an id below {tokens}, the number of tokens")
        return value

    def choose(self, key: str, choices: dict[str, Any], default: str) -> Any:
        value = self.values.get(key, default)
        if not isinstance(value, str) or value not in choices:
            raise InputError(f"{self.path}: {key} is {shown(value)}, which attend lacks; expected one of {', '.join(choices)}")
        return choices[value]

    def refuse(self, **expected: Any) -> None:
        """For what attend has in one form only."""
        for key, value in expected.items():
            found = self.values.get(key, value)
            if found != value:
                raise InputError(f"{self.path}: {key} is {shown(found)}, which attend lacks; expected {shown(value)}")


def optional_keys(path: pathlib.Path) -> Keys:
    """None of them where there is no such file."""
    return Keys(path, None if path.exists() else {})


def model_type(folder: pathlib.Path) -> Any:
    """What config.json of a transformers model says that it is; none where there is no such file."""
    path = folder / "config.json"
    config = read_json(path) if path.exists() else None
    return config.get("model_type") if isinstance(config, dict) else None


def read_weights(folder: pathlib.Path) -> Tensors:
    """All tensors of model.safetensors, or of pytorch_model.bin: floats as f32, others as they are."""
    path = folder / "model.safetensors"
    if path.exists():
        return read_safetensors(path)
    index = folder / (path.name + INDEX)
    if index.exists():
        names = Keys(index).get("weight_map", dict).values()
        return read_all([folder / pathlib.Path(str(name)).name for name in set(names)])
    path = folder / "pytorch_model.bin"
    if path.exists():
        return tensors_of(path, read_pickle(path, "save its tensors alone"))
    if (folder / (path.name + INDEX)).exists():
        raise InputError(f"'{folder}' has pickles of parts of its weights; save it once more with transformers 5, which writes safetensors")
    raise InputError(f"'{folder}' has no weights, expected model.safetensors or pytorch_model.bin")


def read_safetensors(path: pathlib.Path) -> Tensors:
    with needed("reading weights", "safetensors"):
        from safetensors import SafetensorError, safe_open
    try:
        with safe_open(path, framework="np") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: not a whole safetensors file: {error}") from error
    except TypeError:  # bf16, which NumPy lacks
        return _read_by_torch(path)
    return {name: np.ascontiguousarray(value, np.float32 if value.dtype.kind == "f" else None) for name, value in tensors.items()}


def read_all(paths: list[pathlib.Path]) -> Tensors:
    """All tensors of safetensors files that are parts of one."""
    tensors = Tensors()
    for path in sorted(paths):
        tensors |= read_safetensors(path)
    return tensors


def _read_by_torch(path: pathlib.Path) -> Tensors:
    with needed(f"reading '{path.name}', whose numbers NumPy lacks,", "torch"):
        from safetensors.torch import load_file
    return {name: _array(tensor) for name, tensor in load_file(path).items()}


def _array(tensor: Any) -> np.ndarray[Any, Any]:
    """Of torch's: floats of any width as f32, others as they are."""
    found: np.ndarray[Any, Any] = (tensor.float() if tensor.is_floating_point() else tensor).contiguous().numpy()
    return found


def read_pickle(path: pathlib.Path, cure: str) -> Any:
    """What torch.save wrote, if it is tensors, plain values and argparse's namespaces; else an error that tells the `cure`."""
    with needed(f"reading '{path.name}'", "torch"):
        import torch
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 6):  # they could be made to run a file's code
        raise ModuleNotFoundError(f"reading '{path.name}' needs torch 2.6 or later, found {torch.__version__}", name="torch")
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises what its unpickler does
        kind = re.search(r"GLOBAL (\S+) (was not|whose module)", str(error))
        if kind is None:
            raise InputError(f"{path}: not a whole file of torch.save") from error
        if kind[2] != "was not":
            raise InputError(f"{path}: it holds code ({kind[1]}), which attend does not load; {cure}") from error
        raise InputError(f"{path}: it holds {kind[1]}, but only tensors and plain values are read; {cure}") from error


def tensors_of(path: pathlib.Path, state: Any) -> Tensors:
    """The tensors of a file that torch.save wrote: floats as f32, others as they are."""
    import torch

    def is_real(value: Any) -> bool:
        return isinstance(value, torch.Tensor) and not value.is_complex()

    if not isinstance(state, dict) or not all(isinstance(name, str) and is_real(value) for name, value in state.items()):
        raise InputError(f"{path}: expected a dictionary of tensors of real numbers")
    try:
        return {name: _array(tensor) for name, tensor in state.items()}
    except (RuntimeError, TypeError) as error:
        raise InputError(f"{path}: it has a tensor that is none of numbers in memory: {str(error).splitlines()[0]}") from error


def files_with(source: pathlib.Path, marks: tuple[bytes, ...]) -> list[pathlib.Path]:
    """Of a file of torch.save, or those of a folder, the ones that have one of these texts near their beginning."""
    found = []
    for path in sorted(source.glob("*.pt")) if source.is_dir() else [source]:
        if path.suffix == ".pt" and path.is_file():
            try:
                with path.open("rb") as file:
                    beginning = file.read(_BEGINNING)
            except OSError as error:
                raise InputError(f"can't read '{path}': {error.strerror}") from error
            if any(mark in beginning for mark in marks):
                found.append(path)
    return found


def only_file(source: pathlib.Path, marks: tuple[bytes, ...]) -> pathlib.Path:
    found = files_with(source, marks)
    if len(found) != 1:
        raise InputError(f"'{source}' has {len(found)} models ({', '.join(path.name for path in found)}); name one of the files")
    return found[0]


def tokens_by_id(path: pathlib.Path, size: int | None = None) -> list[str]:
    """Of a JSON object that gives each token its id; `size`: how many there must be."""
    ids = read_json(path)
    whole = isinstance(ids, dict) and all(type(i) is int for i in ids.values())
    count = size if size is not None else len(ids) if whole else 0
    if not whole or len(ids) != count or sorted(ids.values()) != list(range(count)):
        expected = f"{count} tokens the ids 0 to {count - 1}" if count else "each token an id, from 0 on"
        raise InputError(f"{path}: expected a JSON object that gives {expected}")
    odd = next((token for token in ids if not is_text(token)), None)
    if odd is not None:
        raise InputError(f"{path}: {shown(odd)} is no token: it has half a character (a lone surrogate)")
    return sorted(ids, key=ids.__getitem__)


class Renamed:
    """Takes a source's tensors under attend's names and knows which are left."""

    def __init__(self, tensors: Tensors, where: str) -> None:
        self.left, self.where, self.tensors = dict(tensors), where, NamedTensors()
        self.left_out: list[str] = []  # in words

    def take(self, name: str, given: str) -> np.ndarray[Any, Any]:
        if given not in self.left:
            raise InputError(f"{self.where}: tensor '{given}' is missing")
        value = self.left.pop(given)
        if value.dtype.kind != "f":
            raise InputError(f"{self.where}: tensor '{given}' is of {value.dtype}, expected floats; save the model with weights in f32")
        if np.isnan(value).any():
            raise InputError(f"{self.where}: tensor '{given}' has numbers that are none (NaN); the training broke, or the file is damaged")
        self.tensors.sources.setdefault(name, given)
        return self.tensors.setdefault(name, value)

    def table(self, name: str, given: str) -> np.ndarray[Any, Any]:
        value = self.take(name, given)
        if value.ndim != 2:
            raise InputError(f"{self.where}: tensor '{given}' has {value.ndim} dimensions, expected 2")
        return value

    def linear(self, name: str, given: str, bias: bool = True) -> None:
        self.take(name + ".weight", given + ".weight")
        if bias:
            self.take(name + ".bias", given + ".bias")

    def tied(self, name: str, given: str) -> None:
        """Leaves out a tensor that stands twice, if it does."""
        value = self.left.pop(given, None)
        if value is not None and not np.array_equal(value, self.tensors[name]):
            raise InputError(f"{self.where}: tensor '{given}' is not the one that it is tied to ('{name}')")

    def is_tied(self, name: str, given: str, other: str) -> bool:
        """Takes a tensor under `name` if it is there and is not the one that was taken as `other`."""
        if given not in self.left:
            return True
        same = np.array_equal(self.take(name, given), self.tensors[other])
        if same:
            del self.tensors[name]
        return bool(same)

    def drop(self, *names: str) -> bool:
        """Whether any was there."""
        return any([self.left.pop(name, None) is not None for name in names])

    def finish(self) -> Tensors:
        if self.left:
            raise InputError(f"{self.where}: tensor '{min(self.left)}' is one that attend lacks a place for")
        return self.tensors


def generation_of(folder: pathlib.Path, config: Keys) -> tuple[Keys, list[str]]:
    """How outputs begin, and what attend leaves out of how they are searched."""
    path = folder / "generation_config.json"
    given = read_json(path) if path.exists() else {key: config.values.get(key) for key in SEARCH}
    settings = Keys(path if path.exists() else config.path, given)
    values = {key: value for key, value in settings.values.items() if value is not None}
    words = [f"{key} {shown(value)}" for key, value in sorted(values.items()) if key not in KNOWN]
    begins = {key: config.values.get(key) for key in ("decoder_start_token_id", "forced_bos_token_id")}
    left_out = [f"{', '.join(words)} of {settings.path.name}: attend's own search options hold"] if words else []
    return Keys(settings.path, {key: value for key, value in (begins | values).items() if value is not None}), left_out
