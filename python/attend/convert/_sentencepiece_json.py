"""tokenizer.json files that were made of a SentencePiece model, as such a model again: transformers 5 keeps nothing else of it."""

from __future__ import annotations

import base64
import binascii
import pathlib
from typing import Any

from attend._errors import InputError
from attend.convert._files import Keys, read_json, shown
from attend.convert._vocabulary import BPE, CONTROL, NORMAL, UNIGRAM, UNKNOWN, USER_DEFINED, sentencepiece

LARGEST = 1e30  # score
# Of normalizer, beside the table of characters: SentencePiece joins spaces and drops those at the ends by itself.
SPACES = ({"Regex": " {2,}"}, {"Regex": "\\n"}, {"String": "\n"})


class SentencePieceJson:
    """A tokenizer.json with a model of unigrams, or of BPE, over words that begin with ▁. Errors end with the `cure`."""

    def __init__(self, path: pathlib.Path, cure: str) -> None:
        self.path, self.file, self.cure = path, read_json(path), cure
        if not isinstance(self.file, dict) or not isinstance(self.file.get("model"), dict):
            raise InputError(f"{path}: expected a JSON object with a member 'model'")
        self.model = Keys(path, self.file["model"])
        self.kind = self.model.choose("type", {"Unigram": UNIGRAM, "BPE": BPE}, "Unigram")
        self.scores = self._unigrams() if self.kind == UNIGRAM else self._merged()
        self.added = self._added()
        known = dict.fromkeys(self.scores)
        self.tokens = list(known | dict.fromkeys(self.added))
        self.special = {token for token, special in self.added.items() if special}

    def fail(self, key: str, value: Any, expected: str) -> InputError:
        return InputError(f"{self.path}: {key} is {shown(value)[:80]}, expected {expected}; or {self.cure}")

    def _unigrams(self) -> dict[str, float]:
        scores: dict[str, float] = {}
        for entry in self.model.get("vocab", list):
            whole = isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str) and isinstance(entry[1], int | float)
            if not whole or entry[0] in scores or not entry[0] or not abs(entry[1]) < LARGEST:
                raise self.fail("an entry of model.vocab", entry, "a token and its score, each token once")
            scores[entry[0]] = float(entry[1])
        return scores

    def _merged(self) -> dict[str, float]:
        """Tokens in the order of their ids, with scores as SentencePiece gives them: those merged first have the highest."""
        ids = self.model.get("vocab", dict)
        if sorted(map(str, ids.values())) != sorted(map(str, range(len(ids)))) or not all(ids):
            raise self.fail("model.vocab", ids, "the ids 0 to the number of tokens less one")
        ranks: dict[str, int] = {}
        for merge in self.model.get("merges", list):
            parts = merge.split(" ") if isinstance(merge, str) else merge
            if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(part, str) for part in parts):
                raise self.fail("an entry of model.merges", merge, "two tokens")
            ranks.setdefault("".join(parts), len(ranks))
        return {token: -float(ranks.get(token, len(ranks))) for token in sorted(ids, key=lambda token: int(ids[token]))}

    def _added(self) -> dict[str, bool]:
        """Whether each added token is a special one. Those that the model lacks have the ids after its own."""
        added: dict[str, bool] = {}
        places = {token: i for i, token in enumerate(self.scores)}
        for entry in Keys(self.path, self.file).get("added_tokens", list, []):
            token = entry.get("content") if isinstance(entry, dict) else None
            if not isinstance(token, str) or not token or entry.get("id") != places.setdefault(token, len(places)):
                raise self.fail("an entry of added_tokens", entry, "a token with the next id")
            if entry.get("single_word"):
                raise self.fail("single_word of an entry of added_tokens", True, "false")
            added[token] = bool(entry.get("special"))
        return added

    def unknown(self) -> str:
        tokens, unknown = list(self.scores), self.model.values.get("unk_id") if self.kind == UNIGRAM else self.model.values.get("unk_token")
        if isinstance(unknown, int) and 0 <= unknown < len(tokens):
            return tokens[unknown]
        if not isinstance(unknown, str) or unknown not in self.scores:
            raise self.fail("model.unk_id or model.unk_token", unknown, "an unknown token")
        return unknown

    def _parts(self, key: str, parts: str) -> list[dict[str, Any]]:
        """Of a normalizer or a pre_tokenizer, which may be a sequence of several."""
        part = self.file.get(key)
        if part is None:
            return []
        inner = part.get(parts) if isinstance(part, dict) and part.get("type") == "Sequence" else [part]
        if not isinstance(inner, list) or not all(isinstance(each, dict) for each in inner):
            raise self.fail(key, part, "an object, or a sequence of them")
        return inner

    def _table(self) -> bytes:
        table = b""
        for part in self._parts("normalizer", "normalizers"):
            if part.get("type") == "Precompiled":
                try:
                    table = base64.b64decode(part.get("precompiled_charsmap") or "", validate=True)
                except (binascii.Error, TypeError, ValueError) as error:
                    raise self.fail("normalizer.precompiled_charsmap", part, "base64") from error
            elif not (part.get("type") == "Strip" or (part.get("type") == "Replace" and part.get("pattern") in SPACES)):
                raise self.fail("normalizer", part, "a table of characters, and spaces joined")
        return table

    def _check_words(self) -> None:
        words = [part for part in self._parts("pre_tokenizer", "pretokenizers") if part.get("type") != "WhitespaceSplit"]
        begins = len(words) == 1 and words[0].get("type") == "Metaspace" and words[0].get("replacement") == "▁"
        if not begins or words[0].get("prepend_scheme", "always") == "never" or not words[0].get("add_prefix_space", True):
            raise self.fail("pre_tokenizer", self.file.get("pre_tokenizer"), "Metaspace, with ▁ before each word")

    def sentencepiece(self, *, with_added: bool = True) -> bytes:
        """`with_added`: whether the added tokens are pieces, too."""
        self.model.refuse(byte_fallback=False, dropout=None, continuing_subword_prefix=None, end_of_word_suffix=None)
        self._check_words()
        unknown = self.unknown()
        kinds = {token: CONTROL if special else USER_DEFINED for token, special in self.added.items()} | {unknown: UNKNOWN}
        tokens = [token for token in self.tokens if with_added or token not in self.added or token == unknown]
        try:
            return sentencepiece(((token, self.scores.get(token, 0.0), kinds.get(token, NORMAL)) for token in tokens), self.kind, self._table())
        except UnicodeEncodeError as error:
            raise InputError(f"{self.path}: a token holds half a character, which is no text") from error
