"""A model's vocabulary as the tokenizer.json of Hugging Face's tokenizers, in which a text has the ids that attend gives it.

A SentencePiece model becomes one of Unigram, BPE, WordLevel or, of characters, BPE without merges. What its normalisation and its scores
say stands there in the tokenizers' own terms. A tokenizer.json stays as it is.
"""

from __future__ import annotations

import base64
import json
import pathlib
import re
import struct
import tempfile
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attend._attend import Vocabulary
from attend._errors import InputError
from attend.convert._tokenizer_files import SENTENCEPIECE
from attend.convert._vocabulary import as_bytes, fields, message

FILE = "tokenizer.json"
SPACE = "▁"
NEWLINE = "<newline>"  # the token that stands for the end of a line (docs/generating.md)
# Signs that attend has for a space sign and a tab in text that is kept as it is, and what they stand for.
MASKED = {"\ufdd0": SPACE, "\ufdd1": "\t"}
_JOINER = "\u034f"  # COMBINING GRAPHEME JOINER, before which and after which no mark moves
_CASE_MARKS = "_factor"  # the end of the normalisation's name where pieces mark case
_NORMAL, _USER_DEFINED, _UNUSED, _BYTE = 1, 4, 5, 6  # types of pieces
_KINDS = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}


@dataclass
class _Pieces:
    """What a SentencePiece model says (sentencepiece_model.proto)."""

    scores: dict[str, float]
    types: dict[str, int]
    kind: str
    byte_fallback: bool
    characters: bytes  # the compiled map
    dummy_prefix: bool
    one_space: bool  # for each run of them
    undoes_masks: bool
    normalization: str  # its name

    @property
    def marks_case(self) -> bool:
        return self.normalization.endswith(_CASE_MARKS)


def _read_pieces(model: bytes) -> _Pieces:
    scores, types = {}, {}
    for number, value, _ in fields(model):
        if number == 1:
            piece = message(as_bytes(value))
            text = as_bytes(piece[1]).decode()
            scores[text] = struct.unpack("<f", as_bytes(piece.get(2, b"\0\0\0\0")))[0]
            types[text] = int(piece.get(3, _NORMAL))  # type: ignore[arg-type]
    parts = message(model)
    trainer, normalizer = message(as_bytes(parts.get(2, b""))), message(as_bytes(parts.get(3, b"")))
    return _Pieces(
        scores, types, _KINDS[int(trainer.get(3, 1))], bool(trainer.get(35, 0)),  # type: ignore[arg-type]
        as_bytes(normalizer.get(2, b"")), bool(normalizer.get(3, 1)), bool(normalizer.get(4, 1)), 5 in parts,
        as_bytes(normalizer.get(1, b"")).decode())


@dataclass
class Tokenizer:
    """A vocabulary's file for transformers."""

    files: dict[str, bytes]  # tokenizer.json, and the SentencePiece model that it is made of
    names: dict[str, str]  # of its special tokens: pad, unk, bos, eos, mask; those that there are


def _replaced(pattern: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def _composed() -> list[dict[str, Any]]:
    """Joins letters and their marks. SentencePiece's map does so too, but tokenizers don't look up all sequences of characters in it.

    NFC also puts marks in order, which SentencePiece does not: a sign that is taken out afterwards keeps those of Hebrew and Arabic as they
    are, which are usually written in another order.
    """
    orders = {mark: unicodedata.combining(mark) for mark in map(chr, range(0x0590, 0x0712))}

    def where(found: Callable[[int], bool]) -> str:
        return "[" + "".join(mark for mark, order in orders.items() if order and found(order)) + "]"

    places = [f"(?<={where(lambda order, own=own: order > own)})(?={where(own.__eq__)})" for own in sorted(set(orders.values()))[1:-1]]
    return [_replaced("|".join(places), _JOINER), {"type": "NFC"}, _replaced(_JOINER, "")]


def _sequence(kind: str, parts: list[dict[str, Any]]) -> dict[str, Any] | None:
    return None if not parts else parts[0] if len(parts) == 1 else {"type": "Sequence", kind: parts}


class _FromPieces:
    """tokenizer.json of a SentencePiece model. `tokens` are in the order of their ids."""

    def __init__(self, pieces: _Pieces, tokens: list[str], names: dict[str, str]) -> None:
        self.pieces, self.tokens, self.names = pieces, tokens, names
        self.newline = NEWLINE in tokens
        self.symbols = [
            token for token in tokens if pieces.types.get(token) == _USER_DEFINED and token not in (NEWLINE, names.get("mask"))]

    def added_tokens(self) -> list[dict[str, Any]]:
        """What stands for no text, the mask, which is read with the space before it, and the end of a line."""
        usual = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        added = [{"id": self.tokens.index(name), "content": name} | usual for name in dict.fromkeys(self.names.values())]
        for token in added:
            token["lstrip"] = token["content"] == self.names.get("mask")
        if self.newline:
            added.append({"id": self.tokens.index(NEWLINE), "content": "\n"} | usual | {"special": False})
        return sorted(added, key=lambda token: int(token["id"]))

    def normalizer(self) -> dict[str, Any] | None:
        parts: list[dict[str, Any]] = []
        if self.pieces.characters:
            parts += _composed() if "nfkc" in self.pieces.normalization else []
            parts.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(self.pieces.characters).decode()})
        if self.pieces.one_space:  # a space before the text becomes the sign that stands there anyway
            parts += [_replaced(" {2,}", " "), _replaced(" +\\z" if self.pieces.dummy_prefix else "\\A +| +\\z", "")]
        elif self.pieces.dummy_prefix and "mask" not in self.names:
            parts.append(_replaced("\\A ", "  "))
        return _sequence("normalizers", parts)

    def space(self) -> dict[str, Any]:
        """A line has a space sign before it, the parts of a line that a mask divides have none of their own."""
        scheme = "never" if not self.pieces.dummy_prefix else "always" if self.newline else "first"
        return {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": self.pieces.kind == "word"}

    def pre_tokenizer(self) -> dict[str, Any] | None:
        parts = [self.space()]
        if self.symbols:
            pattern = "|".join(re.escape(symbol) for symbol in sorted(self.symbols, key=len, reverse=True))
            parts.append({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False})
        return _sequence("pretokenizers", parts)

    def decoder(self) -> dict[str, Any] | None:
        parts: list[dict[str, Any]] = [{"type": "ByteFallback"}] if self.pieces.byte_fallback else []
        parts.append(self.space())
        if self.newline:
            parts += [{"type": "Fuse"}, {"type": "Replace", "pattern": {"String": "\n "}, "content": "\n"}]
        if self.pieces.undoes_masks:
            parts += [{"type": "Replace", "pattern": {"String": sign}, "content": text} for sign, text in MASKED.items()]
        return _sequence("decoders", parts)

    def merges(self) -> list[list[str]]:
        """Two pieces that together are one: those of the highest score first, as SentencePiece joins them."""
        normal = {token: i for i, token in enumerate(self.tokens) if self.pieces.types.get(token) == _NORMAL}
        found = [
            (-self.pieces.scores[token], i, [token[:at], token[at:]])
            for token, i in normal.items() for at in range(1, len(token)) if token[:at] in normal and token[at:] in normal]
        return [parts for _, _, parts in sorted(found)]

    def model(self) -> dict[str, Any]:
        tokens = ["\n" if token == NEWLINE else token for token in self.tokens]
        unknown, ids = self.names["unk"], {token: i for i, token in enumerate(tokens)}
        if self.pieces.kind == "unigram":
            vocabulary = [[token, self.pieces.scores.get(token, 0.0)] for token in tokens]
            return {"type": "Unigram", "unk_id": ids[unknown], "vocab": vocabulary, "byte_fallback": self.pieces.byte_fallback}
        if self.pieces.kind == "word":
            return {"type": "WordLevel", "vocab": ids, "unk_token": unknown}
        characters = self.pieces.kind == "char"
        return {
            "type": "BPE", "dropout": None, "unk_token": unknown, "continuing_subword_prefix": None, "end_of_word_suffix": None,
            "fuse_unk": not characters, "byte_fallback": self.pieces.byte_fallback, "ignore_merges": bool(self.symbols), "vocab": ids,
            "merges": [] if characters else self.merges()}

    def file(self, begin: str | None, end: str | None) -> dict[str, Any]:
        return {
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": self.added_tokens(), "normalizer": self.normalizer(),
            "pre_tokenizer": self.pre_tokenizer(), "post_processor": _frame(self.tokens, begin, end), "decoder": self.decoder(),
            "model": self.model()}


def _frame(tokens: list[str], begin: str | None, end: str | None) -> dict[str, Any]:
    """A text between its first and its last token, and a pair of texts, each with the last."""

    def special(token: str | None, kind: int) -> list[dict[str, Any]]:
        return [] if token is None else [{"SpecialToken": {"id": token, "type_id": kind}}]

    def text(name: str, kind: int) -> list[dict[str, Any]]:
        return [{"Sequence": {"id": name, "type_id": kind}}, *special(end, kind)]

    first = special(begin, 0) + text("A", 0)
    used = {token: {"id": token, "ids": [tokens.index(token)], "tokens": [token]} for token in (begin, end) if token is not None}
    return {"type": "TemplateProcessing", "single": first, "pair": first + text("B", 1), "special_tokens": used}


def load_vocabulary(content: bytes) -> Vocabulary:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "vocabulary"
        path.write_bytes(content)
        return Vocabulary(path)


def tokens_of(content: bytes) -> list[str]:
    """A vocabulary file's tokens by id."""
    vocabulary = load_vocabulary(content)
    return [vocabulary.piece(i) for i in range(len(vocabulary))]


def _is_json(content: bytes) -> bool:
    return content.lstrip()[:1] == b"{"


def marks_case(content: bytes) -> bool:
    return not _is_json(content) and _read_pieces(content).marks_case


def check_sentencepiece(content: bytes, where: str) -> str:
    """Refuses what SentencePiece does not do alone; returns how it cuts text."""
    if _is_json(content):
        raise InputError(f"{where}: it is a tokenizer.json, expected a SentencePiece model")
    if marks_case(content):
        raise InputError(f"{where}: it marks case (case = factor), which transformers lacks")
    return _read_pieces(content).kind


def _names(tokens: list[str], special_ids: dict[str, int]) -> dict[str, str]:
    names = {name: tokens[i] for name, i in special_ids.items() if i >= 0}
    masks = [token for token in ("[MASK]", "<mask>") if token in tokens]
    return names | ({"mask": masks[0]} if masks else {})


def _parts_of(processor: dict[str, Any] | None) -> list[dict[str, Any]]:
    return [] if processor is None else list(processor["processors"]) if processor["type"] == "Sequence" else [processor]


def _frames(part: dict[str, Any]) -> tuple[bool, bool]:
    """Whether a part of a post_processor puts a token before a text, and after it."""
    if part["type"] == "TemplateProcessing":
        return "SpecialToken" in part["single"][0], "SpecialToken" in part["single"][-1]
    return (part["type"] in ("BertProcessing", "RobertaProcessing"),) * 2


def _framed(content: bytes, tokens: list[str], begin: str, end: str | None) -> bytes:
    """A tokenizer.json that puts these tokens around a text; as it is where it does so."""
    file = json.loads(content)
    parts = _parts_of(file.get("post_processor"))
    if (True, end is not None) in map(_frames, parts):
        return content
    kept = [part for part in parts if not any(_frames(part))]
    file["post_processor"] = _sequence("processors", [*kept, _frame(tokens, begin, end)])
    return json.dumps(file, ensure_ascii=False).encode()


def tokenizer_of(content: bytes, special_ids: dict[str, int], where: str, *, ends: bool) -> Tokenizer:
    """Of a vocabulary file. A text begins with bos and, where it `ends`, ends with eos."""
    tokens = tokens_of(content)
    names = _names(tokens, special_ids)
    begin, end = names["bos"], names["eos"] if ends else None
    if _is_json(content):
        return Tokenizer({FILE: _framed(content, tokens, begin, end)}, names)
    if not ends:
        names.pop("mask", None)  # which is a text as any other
    check_sentencepiece(content, where)
    pieces = _read_pieces(content)
    known = set(tokens)
    lost = [piece for piece, kind in pieces.types.items() if kind in (_NORMAL, _USER_DEFINED, _BYTE) and piece not in known]
    if lost or _UNUSED in pieces.types.values():
        raise InputError(f"{where}: SentencePiece cuts text into pieces that are no tokens of the model, which transformers lacks")
    file = _FromPieces(pieces, tokens, names).file(begin, end)
    return Tokenizer({FILE: json.dumps(file, ensure_ascii=False).encode(), SENTENCEPIECE: content}, names)
