"""Marian's binary lexical shortlists as attend's (docs/model_file.md)."""

from __future__ import annotations

import hashlib
import pathlib
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from attend._errors import InputError
from attend._packages import needed

FILE = "shortlist.safetensors"
_MAGIC, _HEADER = 0xF11A48D5013417F5, 48
Ids = np.ndarray[Any, Any]


@dataclass
class Shortlist:
    frequent: Ids  # target ids that every sentence may use
    candidates: list[Ids]  # by source id

    def write(self, path: pathlib.Path, vocabularies: list[bytes]) -> None:
        with needed("a shortlist", "safetensors"):
            from safetensors.numpy import save_file
        digests = "".join(hashlib.sha256(content).hexdigest() for content in vocabularies)
        tensors = {
            "version": np.array([1], np.int32), "vocabularies": np.frombuffer(digests.encode(), np.uint8),
            "frequent": self.frequent.astype(np.int32), "candidates": np.concatenate(self.candidates).astype(np.int32),
            "candidates_end": np.cumsum([len(ids) for ids in self.candidates]).astype(np.int64)}
        save_file(tensors, path)


def find(folder: pathlib.Path) -> pathlib.Path | None:
    """The one shortlist of the folder."""
    found = [path for path in sorted(folder.glob("*.bin")) if _is_shortlist(path)]
    if len(found) > 1:
        raise InputError(f"'{folder}' has several shortlists ({', '.join(path.name for path in found)}), expected one")
    return found[0] if found else None


def _is_shortlist(path: pathlib.Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(8) == struct.pack("<Q", _MAGIC)


def read(path: pathlib.Path, sizes: list[int], shared: bool) -> Shortlist:
    """With `shared` vocabularies a sentence may use its own tokens too, as Marian lets it."""
    content = path.read_bytes()
    if len(content) < _HEADER:
        raise InputError(f"{path}: the file is cut short")
    _, _, first, _, offsets, ids = struct.unpack_from("<6Q", content)
    if len(content) != _HEADER + 8 * offsets + 4 * ids:
        raise InputError(f"{path}: {len(content)} bytes, expected {_HEADER + 8 * offsets + 4 * ids} as its header says")
    if offsets != sizes[0] + 1:
        raise InputError(f"{path}: lists of {offsets - 1} tokens, expected {sizes[0]} as the model has them")
    ends = np.frombuffer(content, np.uint64, offsets, _HEADER)
    targets = np.frombuffer(content, np.uint32, ids, _HEADER + 8 * offsets)
    if ends[0] != 0 or ends[-1] != ids or np.any(ends[1:] < ends[:-1]):
        raise InputError(f"{path}: where lists end does not rise to {ids}")
    if first > sizes[1] or np.any(targets >= sizes[1]):
        raise InputError(f"{path}: it has target ids above {sizes[1] - 1}, which the model has not")
    lists = np.split(targets, ends[1:-1].astype(np.int64))
    if shared:
        lists = [np.unique(np.append(each, np.uint32(token))) for token, each in enumerate(lists)]
    return Shortlist(np.arange(first), lists)
