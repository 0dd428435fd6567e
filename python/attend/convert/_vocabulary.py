"""Vocabularies whose tokens have ids of their own: a SentencePiece model with the list of tokens behind it (docs/model_file.md)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from attend._errors import InputError

_MAP_FIELD = 4200  # of SentencePiece's ModelProto, which leaves fields from 200 on to others
_TOKEN, _PAD, _UNK, _BOS, _EOS = 1, 2, 3, 4, 5
# Of ModelProto: its pieces, how it was trained, how it normalises. Of a piece: text, score, type. Of the others: model type, name.
_PIECE, _TRAINER, _NORMALIZER = 1, 2, 3
_TEXT, _SCORE, _TYPE = 1, 2, 3
_MODEL_TYPE, _NAME = 3, 1
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
_WORDS = 3


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _text(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _read_varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while content[at] & 0x80:
        value |= (content[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | content[at] << shift, at + 1


def fields(content: bytes) -> Iterator[tuple[int, int | bytes, bytes]]:
    """The fields of a message: number, value (fixed ones as their bytes), and the bytes of the whole field."""
    at = 0
    while at < len(content):
        begin = at
        tag, at = _read_varint(content, at)
        value: int | bytes
        if tag & 7 == 0:
            value, at = _read_varint(content, at)
            yield tag >> 3, value, content[begin:at]
            continue
        size = {1: 8, 5: 4}.get(tag & 7)
        if size is None:
            size, at = _read_varint(content, at)
        if at + size > len(content) or tag & 7 not in (1, 2, 5):
            raise ValueError("cut short")
        value, at = content[at : at + size], at + size
        yield tag >> 3, value, content[begin:at]


def message(content: bytes) -> dict[int, int | bytes]:
    """A message's fields by number, of several with one number the last."""
    return {number: value for number, value, _ in fields(content)}


def as_bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number in place of content")
    return value


def pieces_of(model: bytes, where: str) -> list[str]:
    """The pieces of a SentencePiece model, by id."""
    try:
        pieces = [as_bytes(value) for number, value, _ in fields(model) if number == _PIECE]
        return [as_bytes(message(piece)[_TEXT]).decode() for piece in pieces]
    except (IndexError, KeyError, ValueError) as error:
        raise InputError(f"{where}: not a SentencePiece model") from error


def with_tokens(model: bytes, tokens: list[str], special_ids: dict[str, int]) -> bytes:
    """The SentencePiece model whose pieces have the ids that `tokens` gives them."""
    content = b"".join(_text(_TOKEN, token.encode()) for token in tokens)
    for number, name in ((_PAD, "pad"), (_UNK, "unk"), (_BOS, "bos"), (_EOS, "eos")):
        content += _number(number, special_ids[name] + 1)
    return model + _text(_MAP_FIELD, content)


def without_tokens(vocabulary: bytes) -> bytes:
    """The SentencePiece model alone."""
    return b"".join(field for number, _, field in fields(vocabulary) if number != _MAP_FIELD)


def of_words(tokens: list[str], special_ids: dict[str, int], without_text: set[str]) -> bytes:
    """A vocabulary of words, for text whose tokens stand between spaces; no text gives the tokens `without_text`.

    SentencePiece writes a word with a sign for the space before it.
    """
    pieces, named = bytearray(), []
    for i, token in enumerate(tokens):
        kind = _UNKNOWN if i == special_ids["unk"] else _CONTROL if token in without_text else _NORMAL
        named.append("▁" + token if kind == _NORMAL else token)
        score = _varint(_SCORE << 3 | 5) + struct.pack("<f", 0)
        pieces += _text(_PIECE, _text(_TEXT, named[-1].encode()) + score + _number(_TYPE, kind))
    model = bytes(pieces) + _text(_TRAINER, _number(_MODEL_TYPE, _WORDS)) + _text(_NORMALIZER, _text(_NAME, b"identity"))
    return with_tokens(model, named, special_ids)
