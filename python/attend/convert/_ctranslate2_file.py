"""CTranslate2's model.bin in its layouts 2 to 6, read with bounds.

    u32 version, text specification, u32 revision
    u32 variables; of each: text name, u8 rank, u32 dims[rank], then u8 type and u32 bytes (before version 4: u8 bytes of an item and
        u32 items), then its data
    u32 aliases (from version 3); of each: text alias, text name of a variable

A text is a u16 with its bytes, and a NUL at the end. All numbers are little-endian. Integers of weights stand beside a scale, which they
were multiplied by.
"""

from __future__ import annotations

import math
import pathlib
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from attend._errors import InputError

Array = np.ndarray[Any, Any]

OLDEST, NEWEST = 2, 6
BFLOAT16 = "bfloat16"
_TYPES = {0: "float32", 1: "int8", 2: "int16", 3: "int32", 4: "float16", 5: BFLOAT16}
_OLD_TYPES = {1: "int8", 2: "int16", 4: "float32"}  # before version 4, by the bytes of an item
_INT16_SCALE = 1000.0  # of old files, which have none
_MOST_DIMENSIONS = 8


@dataclass
class ModelFile:
    where: str
    version: int
    specification: str
    revision: int
    values: dict[str, Array]  # floats and weights as f32, other integers as they are
    types: dict[str, str]  # what the file has them as

    def number(self, name: str, default: float) -> float:
        """Takes a variable that is one number."""
        value = self.values.pop(name, None)
        if value is None:
            return default
        if value.ndim > 0 or not np.isfinite(value):
            raise InputError(f"{self.where}: '{name}' is {value.tolist()}, expected one number")
        return float(value)

    def text(self, name: str, default: str) -> str:
        """Takes a variable that is a text."""
        value = self.values.pop(name, None)
        return default if value is None else value.astype(np.uint8).tobytes().decode("utf-8", "replace")


class _Reader:
    def __init__(self, path: pathlib.Path) -> None:
        self.where, self.at = str(path), 0
        try:
            self.bytes = path.read_bytes()
        except OSError as error:
            raise InputError(f"can't read '{path}': {error.strerror}") from error

    def take(self, size: int, what: str) -> bytes:
        left = len(self.bytes) - self.at
        if size > left:
            raise InputError(f"{self.where}: {what} has {size} bytes, but the file ends after {left} of them; it is cut short")
        self.at += size
        return self.bytes[self.at - size : self.at]

    def numbers(self, kind: str, count: int, what: str) -> tuple[int, ...]:
        layout = f"<{count}{kind}"
        return struct.unpack(layout, self.take(struct.calcsize(layout), what))

    def number(self, kind: str, what: str) -> int:
        return self.numbers(kind, 1, what)[0]

    def text(self, what: str) -> str:
        content = self.take(self.number("H", what), what)
        try:
            return content.removesuffix(b"\0").decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{self.where}: {what} is no UTF-8 text; is this a model of CTranslate2?") from error

    def variable(self, version: int, name: str) -> tuple[Array, str]:
        what = f"variable '{name}'"
        rank = self.number("B", what)
        if rank > _MOST_DIMENSIONS:
            raise InputError(f"{self.where}: {what} has {rank} dimensions, expected at most {_MOST_DIMENSIONS}")
        shape = self.numbers("I", rank, what)
        code, size = self.number("B", what), self.number("I", what)
        kind = (_TYPES if version >= 4 else _OLD_TYPES).get(code)
        if kind is None:
            raise InputError(f"{self.where}: {what} has the type {code}, which attend lacks; expected floats, int8, int16 or int32")
        width = 2 if kind == BFLOAT16 else np.dtype(kind).itemsize
        size *= 1 if version >= 4 else width
        if 0 in shape or math.prod(shape) * width != size:
            raise InputError(f"{self.where}: {what} has {size} bytes, expected {kind} of shape {list(shape)}")
        return _array(self.take(size, what), kind).reshape(shape), kind

    def aliases(self) -> list[tuple[str, str]]:
        return [(self.text("an alias"), self.text("an alias")) for _ in range(self.number("I", "the number of aliases"))]


def _array(data: bytes, kind: str) -> Array:
    """Floats as f32, integers as they are."""
    if kind == BFLOAT16:
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    values = np.frombuffer(data, np.dtype(kind).newbyteorder("<"))
    return values.astype(np.float32 if kind.startswith("float") else kind)


def _dequantize(file: ModelFile) -> None:
    for name in [name for name, kind in file.types.items() if name.endswith("weight") and kind in ("int8", "int16")]:
        weight, scale = file.values[name], file.values.pop(name + "_scale", None)
        if scale is None and file.types[name] == "int16":
            scale = np.array(_INT16_SCALE, np.float32)
        if scale is None:
            raise InputError(f"{file.where}: variable '{name}_scale' is missing, but '{name}' is int8")
        if scale.shape not in ((), weight.shape[:1]):
            raise InputError(f"{file.where}: '{name}_scale' has shape {list(scale.shape)}, expected {list(weight.shape[:1])} or one number")
        if not np.all(np.isfinite(scale)) or np.any(scale == 0):
            raise InputError(f"{file.where}: '{name}_scale' has a scale that is 0 or not finite")
        file.values[name] = weight.astype(np.float32) / scale.reshape(scale.shape + (1,) * (weight.ndim - scale.ndim))


def read_model(path: pathlib.Path) -> ModelFile:
    """The variables of the file, and its aliases, which have the variable itself."""
    reader = _Reader(path)
    version = reader.number("I", "the version")
    if not OLDEST <= version <= NEWEST:
        raise InputError(f"{path}: version {version} of CTranslate2's files, expected {OLDEST} to {NEWEST}")
    file = ModelFile(str(path), version, reader.text("the specification"), reader.number("I", "the revision"), {}, {})
    for _ in range(reader.number("I", "the number of variables")):
        name = reader.text("a variable's name")
        if name in file.values:
            raise InputError(f"{path}: variable '{name}' stands twice")
        file.values[name], file.types[name] = reader.variable(version, name)
    _dequantize(file)
    for alias, name in reader.aliases() if version >= 3 else []:
        if name not in file.values or alias in file.values:
            raise InputError(f"{path}: '{alias}' is an alias of '{name}', which {'stands twice' if name in file.values else 'is missing'}")
        file.values[alias], file.types[alias] = file.values[name], file.types[name]
    if reader.at != len(reader.bytes):
        raise InputError(f"{path}: {len(reader.bytes) - reader.at} bytes follow the last variable; is the file damaged?")
    return file
