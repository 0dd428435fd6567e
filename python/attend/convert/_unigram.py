"""Hugging Face's tokenizer.json of type Unigram, as a SentencePiece model with a list of tokens."""

from __future__ import annotations

import base64
import binascii
import math
import pathlib
from dataclasses import dataclass
from typing import Any

from attend._errors import InputError
from attend.convert._files import Keys, shown
from attend.convert._vocabulary import NORMAL, UNIGRAM, UNKNOWN, sentencepiece

SPACES = ("Replace", "Strip")  # normalizers that do to spaces what SentencePiece does


@dataclass
class Unigram:
    model: bytes  # SentencePiece's
    tokens: list[str]  # by id
    added: list[str]  # which stand in a text as they are
    unk: int


def _is_text(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(value.encode())
    except UnicodeEncodeError:  # half a character
        return False


def _pieces(file: pathlib.Path, vocab: list[Any]) -> dict[str, float]:
    """Scores of the pieces, by id."""
    scores: dict[str, float] = {}
    for i, entry in enumerate(vocab):
        pair = isinstance(entry, list) and len(entry) == 2 and _is_text(entry[0]) and isinstance(entry[1], int | float)
        if not pair or not math.isfinite(entry[1]) or entry[0] in scores:
            raise InputError(f"{file}: model.vocab[{i}] is {shown(entry)[:80]}, expected a text that stands once, and its score")
        scores[entry[0]] = float(entry[1])
    return scores


def _added(file: pathlib.Path, listed: list[Any], tokens: list[str]) -> list[str]:
    """The added tokens; those that are none of the model's become the last of `tokens`."""
    added = []
    for i, entry in enumerate(listed):
        values = entry if isinstance(entry, dict) else {}
        content, number = values.get("content"), values.get("id")
        if number == len(tokens) and _is_text(content) and content not in tokens:
            tokens.append(content)
        if not isinstance(number, int) or not 0 <= number < len(tokens) or tokens[number] != content:
            raise InputError(f"{file}: added_tokens[{i}] is {shown(entry)[:80]}, expected a token of model.vocab or the next one after it")
        if values.get("single_word"):
            raise InputError(f"{file}: added_tokens[{i}].single_word is true, which attend lacks here; expected false")
        added.append(content)
    return added


def _characters(file: Keys) -> bytes:
    """The map of characters of the normalizer, or none."""
    normalizer = file.values.get("normalizer") or {}
    parts = normalizer.get("normalizers", [normalizer]) if isinstance(normalizer, dict) else [normalizer]
    found = b""
    for part in parts if isinstance(parts, list) else [parts]:
        kind = part.get("type") if isinstance(part, dict) else part
        if kind == "Precompiled":
            try:
                found = base64.b64decode(part.get("precompiled_charsmap"), validate=True)
            except (binascii.Error, TypeError, ValueError) as error:
                raise InputError(f"{file.path}: normalizer.precompiled_charsmap is not in base64") from error
        elif part and kind not in SPACES:
            raise InputError(f"{file.path}: normalizer.type is {shown(kind)}, which attend lacks here; expected \"Precompiled\"")
    return found


def read_unigram(path: pathlib.Path) -> Unigram:
    file = Keys(path)
    model = file.get("model", dict)
    if model.get("type") != "Unigram" or model.get("byte_fallback"):
        known = {key: model.get(key) for key in ("type", "byte_fallback")}
        raise InputError(f"{path}: model is {shown(known)}, which attend lacks here; expected type \"Unigram\" without byte_fallback")
    scores = _pieces(path, Keys(path, model).get("vocab", list))
    tokens = list(scores)
    unk = Keys(path, model).get("unk_id", int)
    if not 0 <= unk < len(tokens):
        raise InputError(f"{path}: model.unk_id is {unk}, expected the id of a token")
    added = _added(path, file.get("added_tokens", list, []), tokens)
    pieces = [(text, score, NORMAL) for text, score in scores.items() if text not in added and text != tokens[unk]]
    return Unigram(sentencepiece([(tokens[unk], 0.0, UNKNOWN), *pieces], UNIGRAM, _characters(file)), tokens, added, unk)
