"""Vocabularies of models that keep a list of tokens, and beside it the SentencePiece model that cuts text into them, or none."""

from __future__ import annotations

import collections
import json
import os
import pathlib

from attend._errors import InputError
from attend.convert._vocabulary import of_words, pieces_of, with_tokens

STEMS = {"source": ("source", "src"), "target": ("target", "tgt")}
SHARED = ("sentencepiece.bpe.model", "spm.model")  # where several lie there


def _find(places: list[pathlib.Path], side: str) -> pathlib.Path | None:
    """The SentencePiece model of one side: a place that is a file, or in a folder one of a usual name, or the only one."""
    folders = [place for place in places if os.path.isdir(place)]
    found = [path for folder in folders for path in sorted(folder.iterdir()) if path.suffix in (".spm", ".model") and path.is_file()]
    own = [path for path in found if path.stem in STEMS[side]]
    known = (own if len(own) == 1 else []) + [folder / name for name in SHARED for folder in folders]
    chosen = next((path for path in [*places, *known] if os.path.isfile(path)), None)
    if chosen is None and len(found) > 1:
        several = ", ".join(path.name for path in found)
        raise InputError(f"'{folders[0]}' has {several}, expected one SentencePiece model, or source.spm and target.spm")
    return chosen or (found[0] if found else None)


def _check(file: pathlib.Path, tokens: list[str]) -> None:
    token, count = collections.Counter(tokens).most_common(1)[0]
    if count > 1:
        raise InputError(f"{file}: {json.dumps(token)} stands twice, expected each token once")
    try:
        "".join(tokens).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{file}: a token holds half a character, which is no text") from error


def vocabulary(
    file: pathlib.Path, side: str, tokens: list[str], special_ids: dict[str, int], without_text: set[str], places: list[pathlib.Path],
) -> bytes:
    """Of the tokens that `file` lists. A SentencePiece model cuts text into them: one of the places that is a file, or one that lies in a
    folder of them. Without one they are words, for text whose tokens stand between spaces; no text gives the tokens `without_text`."""
    _check(file, tokens)
    path = _find(places, side)
    if path is None:
        if 10 * sum(token.startswith("▁") for token in tokens) > len(tokens):
            folder = next(place for place in places if place.is_dir())
            raise InputError(
                f"{file}: its tokens are SentencePiece's, but '{folder}' has no SentencePiece model; put the model's there as "
                "sentencepiece.model, or as source.spm and target.spm")
        return of_words(tokens, special_ids, without_text=without_text)
    content = path.read_bytes()
    texts = set(tokens) - without_text
    known = len(set(pieces_of(content, str(path))) & texts)
    if 2 * known < len(texts):
        raise InputError(f"{path}: it has {known} of the {len(texts)} tokens of '{file.name}', expected most; is it another model's?")
    return with_tokens(content, tokens, special_ids, without_text=without_text)
