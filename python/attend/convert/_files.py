"""Reading what importers share: JSON with checked keys, and weights."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

from attend._errors import InputError
from attend.convert._source import Tensors


def read_json(path: pathlib.Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"can't read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from error


class Keys:
    """A JSON object whose keys are asked for by name, with errors that name the file and the key."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path, self.values = path, read_json(path)
        if not isinstance(self.values, dict):
            raise InputError(f"{path}: expected a JSON object")

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        value = self.values.get(key, default)
        wrong = value is None or not isinstance(value, kind) or (kind is int and isinstance(value, bool))
        if wrong:
            raise InputError(f"{self.path}: {key} is {json.dumps(value)}, expected {kind.__name__}")
        return value

    def choose(self, key: str, choices: dict[str, Any], default: str) -> Any:
        value = self.values.get(key, default)
        if value not in choices:
            raise InputError(f"{self.path}: {key} is {json.dumps(value)}, which attend lacks; expected one of {', '.join(choices)}")
        return choices[value]

    def refuse(self, **expected: Any) -> None:
        """For what attend has in one form only."""
        for key, value in expected.items():
            found = self.values.get(key, value)
            if found != value:
                raise InputError(f"{self.path}: {key} is {json.dumps(found)}, which attend lacks; expected {json.dumps(value)}")


def read_weights(folder: pathlib.Path) -> Tensors:
    """All tensors of model.safetensors, or of pytorch_model.bin, as f32."""
    path = folder / "model.safetensors"
    if path.exists():
        return _read_safetensors(path)
    path = folder / "pytorch_model.bin"
    if path.exists():
        return _read_pickle(path)
    raise InputError(f"'{folder}' has no weights, expected model.safetensors or pytorch_model.bin")


def _read_safetensors(path: pathlib.Path) -> Tensors:
    try:
        from safetensors import SafetensorError, safe_open
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("reading weights needs the package safetensors: pip install safetensors", name="safetensors") from error
    try:
        with safe_open(path, framework="np") as file:
            return {name: np.ascontiguousarray(file.get_tensor(name), dtype=np.float32) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: not a whole safetensors file: {error}") from error
    except TypeError:  # bf16, which NumPy lacks
        return _read_by_torch(path)


def _read_by_torch(path: pathlib.Path) -> Tensors:
    from safetensors.torch import load_file

    return {name: tensor.float().numpy() for name, tensor in load_file(path).items()}


def _read_pickle(path: pathlib.Path) -> Tensors:
    try:
        import torch
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"reading '{path.name}' needs the package torch: pip install torch", name="torch") from error
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises what its unpickler does
        raise InputError(f"{path}: not a file of tensors alone: {str(error).splitlines()[0]}") from error
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise InputError(f"{path}: expected a dictionary of tensors")
    return {name: tensor.float().contiguous().numpy() for name, tensor in state.items()}


class Renamed:
    """Takes a source's tensors under attend's names and knows which are left."""

    def __init__(self, tensors: Tensors, where: str) -> None:
        self.left, self.where, self.tensors = dict(tensors), where, Tensors()

    def take(self, name: str, given: str) -> np.ndarray[Any, Any]:
        if given not in self.left:
            raise InputError(f"{self.where}: tensor '{given}' is missing")
        return self.tensors.setdefault(name, self.left.pop(given))

    def linear(self, name: str, given: str) -> None:
        self.take(name + ".weight", given + ".weight")
        self.take(name + ".bias", given + ".bias")

    def drop(self, *names: str) -> None:
        for name in names:
            self.left.pop(name, None)

    def finish(self) -> Tensors:
        if self.left:
            raise InputError(f"{self.where}: tensor '{min(self.left)}' is one that attend lacks a place for")
        return self.tensors
