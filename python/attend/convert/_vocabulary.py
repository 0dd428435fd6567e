"""Vocabularies whose tokens have ids of their own: a SentencePiece model with the list of tokens behind it (docs/model_file.md)."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Collection, Iterable, Iterator

from attend._errors import InputError

_MAP_FIELD = 4200  # of SentencePiece's ModelProto, which leaves fields from 200 on to others
_TOKEN, _PAD, _UNK, _BOS, _EOS, _ADDED, _WITHOUT_TEXT = 1, 2, 3, 4, 5, 6, 7
# Of ModelProto: its pieces, how it was trained, how it normalises. Of a piece: text, score, type. Of the others: model type; name,
# map of characters.
_PIECE, _TRAINER, _NORMALIZER = 1, 2, 3
_TEXT, _SCORE, _TYPE = 1, 2, 3
_MODEL_TYPE, _NAME, _CHARACTERS = 3, 1, 2
NORMAL, UNKNOWN, CONTROL, USER_DEFINED = 1, 2, 3, 4  # types of pieces
UNIGRAM, BPE, WORDS = 1, 2, 3  # types of models


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
        parts = [(number, value) for number, value, _ in fields(model)]
        pieces = [as_bytes(message(as_bytes(value))[_TEXT]).decode() for number, value in parts if number == _PIECE]
    except (IndexError, KeyError, ValueError) as error:
        raise InputError(f"{where}: not a SentencePiece model") from error
    if _NORMALIZER not in dict(parts):
        raise InputError(f"{where}: not a whole SentencePiece model: it does not tell how text is normalised")
    return pieces


def sentencepiece(pieces: Iterable[tuple[str, float, int]], kind: int, characters: bytes = b"") -> bytes:
    """A SentencePiece model of these pieces, each with its score and type; a map of characters normalises text, or nothing does."""
    content = bytearray()
    for text, score, of in pieces:
        content += _text(_PIECE, _text(_TEXT, text.encode()) + _varint(_SCORE << 3 | 5) + struct.pack("<f", score) + _number(_TYPE, of))
    normalizer = _text(_NAME, b"user_defined") + _text(_CHARACTERS, characters) if characters else _text(_NAME, b"identity")
    return bytes(content) + _text(_TRAINER, _number(_MODEL_TYPE, kind)) + _text(_NORMALIZER, normalizer)


def with_tokens(
        model: bytes, tokens: list[str], special_ids: dict[str, int], *, added: Iterable[str] = (),
        without_text: Collection[str] = ()) -> bytes:
    """The SentencePiece model whose pieces have the ids that `tokens` gives them.

    Those `added` stand in a text as they are; beside the special ids those `without_text` give none.
    """
    content = b"".join(_text(_TOKEN, token.encode()) for token in tokens)
    for number, name in ((_PAD, "pad"), (_UNK, "unk"), (_BOS, "bos"), (_EOS, "eos")):
        content += _number(number, special_ids[name] + 1)
    content += b"".join(_text(_ADDED, token.encode()) for token in added)
    special = {tokens[i] for i in special_ids.values() if i >= 0}
    content += b"".join(_text(_WITHOUT_TEXT, token.encode()) for token in tokens if token in without_text and token not in special)
    return model + _text(_MAP_FIELD, content)


def without_tokens(vocabulary: bytes) -> bytes:
    """The SentencePiece model alone."""
    return b"".join(field for number, _, field in fields(vocabulary) if number != _MAP_FIELD)


def placeholders(tokens: list[str], rows: int, where: str) -> list[str]:
    """Names for the rows of an embedding after those of its tokens: models round its size up, to 1,024 rows or less."""
    if not len(tokens) <= rows <= len(tokens) + min(len(tokens), max(1024, len(tokens) // 8)):
        raise InputError(f"{where}: the tokenizer has {len(tokens)} tokens and the embedding {rows} rows; is it another model's?")
    known = set(tokens)
    names = (f"<unused_{i}>" for i in itertools.count())
    return list(itertools.islice((name for name in names if name not in known), rows - len(tokens)))


def of_words(tokens: list[str], special_ids: dict[str, int], without_text: set[str]) -> bytes:
    """A vocabulary of words, for text whose tokens stand between spaces; no text gives the tokens `without_text`.

    SentencePiece writes a word with a sign for the space before it.
    """
    pieces = []
    for i, token in enumerate(tokens):
        kind = UNKNOWN if i == special_ids["unk"] else CONTROL if token in without_text else NORMAL
        pieces.append(("▁" + token if kind == NORMAL else token, 0.0, kind))
    return with_tokens(sentencepiece(pieces, WORDS), [text for text, *_ in pieces], special_ids, without_text=without_text)
