"""Hugging Face's tokenizer.json as a vocabulary, made of vocab.txt or of vocab.json and merges.txt where a model has only those.

`attend export` makes tokenizer.json of SentencePiece models, which it puts beside it.
"""

from __future__ import annotations

import json
import pathlib
import tempfile
from dataclasses import dataclass, replace
from typing import Any

from attend._attend import Vocabulary
from attend._errors import InputError
from attend.convert._files import Keys, optional_keys, read_bytes, read_text, token_of
from attend.convert._vocabulary import placeholders

SENTENCEPIECE = "vocab.spm"


@dataclass
class TokenizerFile:
    content: bytes
    special_ids: dict[str, int]
    tokens: list[str]  # by id

    def padded(self, rows: int, folder: pathlib.Path) -> TokenizerFile:
        """The same with a token for each row of the embedding."""
        more = placeholders(self.tokens, rows, str(folder))
        if not more:
            return self
        file, tokens = json.loads(self.content), [*self.tokens, *more]
        file["added_tokens"] += _added({token: i for i, token in enumerate(tokens)}, more)
        return replace(self, content=_dump(file), tokens=tokens)

    def texts(self) -> list[str]:
        """Some texts of the tokenizer's own words, which a model proves itself by."""
        words = [token.removeprefix("Ġ") for token in self.tokens if token.removeprefix("Ġ").isalpha()]
        chosen = words[:: max(len(words) // 37, 1)] or ["a"]
        spans = ((0, 3), (3, 6), (9, 9), (18, 14))
        return [" ".join(chosen[i % len(chosen)] for i in range(first, first + length)) for first, length in spans]


def read_tokenizer(folder: pathlib.Path) -> TokenizerFile:
    path = next((folder / name for name in (SENTENCEPIECE, "tokenizer.json") if (folder / name).exists()), None)
    if path is not None:
        content = read_bytes(path)
        if path.suffix == ".json":
            Keys(path)  # which tells what is no JSON object
    elif (folder / "vocab.txt").exists():
        content, path = _dump(_wordpiece(folder)), folder / "vocab.txt"
    elif (folder / "vocab.json").exists() and (folder / "merges.txt").exists():
        content, path = _dump(_byte_bpe(folder)), folder / "vocab.json"
    else:
        raise InputError(f"'{folder}' has no tokenizer, expected tokenizer.json, vocab.txt, or vocab.json and merges.txt")
    return loaded(content, path)


def _dump(tokenizer: dict[str, Any]) -> bytes:
    return json.dumps(tokenizer, ensure_ascii=False, indent=1).encode()


def loaded(content: bytes, path: pathlib.Path) -> TokenizerFile:
    """As attend reads it, whose errors name the file."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "tokenizer.json"
        copy.write_bytes(content)
        try:
            vocabulary = Vocabulary(copy)
        except InputError as error:
            raise InputError(str(error).replace(str(copy), str(path))) from error
    special = {name: getattr(vocabulary, name) for name in ("pad", "unk", "bos", "eos")}
    return TokenizerFile(content, special, [vocabulary.piece(i) for i in range(len(vocabulary))])


def _added(ids: dict[str, int], tokens: list[str], lstrip: str = "") -> list[dict[str, Any]]:
    known = {token: ids[token] for token in tokens if token in ids}
    return [
        {"id": i, "content": token, "single_word": False, "lstrip": token == lstrip, "rstrip": False, "normalized": False, "special": True}
        for token, i in sorted(known.items(), key=lambda item: item[1])]


def _wordpiece(folder: pathlib.Path) -> dict[str, Any]:
    """BERT's, of the tokens that vocab.txt lists."""
    settings = optional_keys(folder / "tokenizer_config.json").values
    tokens = read_text(folder / "vocab.txt").rstrip("\n").split("\n")  # other ends of lines are in tokens
    ids = {token: i for i, token in enumerate(tokens)}
    unk, cls, sep = (token_of(settings, f"{name}_token", f"[{name.upper()}]") for name in ("unk", "cls", "sep"))
    special = [token_of(settings, f"{name}_token", f"[{name.upper()}]") for name in ("pad", "unk", "cls", "sep", "mask")]
    for token in (unk, cls, sep):
        if token not in ids:
            raise InputError(f"{folder / 'vocab.txt'}: token '{token}' is missing")
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": _added(ids, special),
        "normalizer": {
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": settings.get("tokenize_chinese_chars", True),
            "strip_accents": settings.get("strip_accents"), "lowercase": settings.get("do_lower_case", True)},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": [sep, ids[sep]], "cls": [cls, ids[cls]]},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece", "unk_token": unk, "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": ids}}


def _merges(path: pathlib.Path, ids: dict[str, Any]) -> list[str]:
    """The lines, each of two tokens that make a third; most tokens that are longer than a character come from one."""
    merges, made = [], set()
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line or (number == 1 and line.startswith("#version")):
            continue
        if line.count(" ") != 1 or not {*line.split(" "), line.replace(" ", "")} <= ids.keys():
            raise InputError(f"{path}:{number}: '{line}', expected two tokens of vocab.json that make a third")
        merges.append(line)
        made.add(line.replace(" ", ""))
    missing = [token for token in ids if len(token) > 1 and token not in made]
    if 10 * len(missing) > len(ids):
        raise InputError(f"{path}: no line makes {len(missing)} of the {len(ids)} tokens, such as '{missing[-1]}'; the file may be cut short")
    return merges


def _byte_bpe(folder: pathlib.Path) -> dict[str, Any]:
    """GPT-2's or, where <s> and </s> are tokens, RoBERTa's."""
    settings = optional_keys(folder / "tokenizer_config.json").values
    ids = Keys(folder / "vocab.json").values
    prefix_space = settings.get("add_prefix_space", False)
    post: dict[str, Any] = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    special = [token_of(settings, "eos_token", "<|endoftext|>")]
    if "<s>" in ids and "</s>" in ids:
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        post = {
            "type": "RobertaProcessing", "sep": ["</s>", ids["</s>"]], "cls": ["<s>", ids["<s>"]], "trim_offsets": True,
            "add_prefix_space": prefix_space}
    byte_level = {"type": "ByteLevel", "add_prefix_space": prefix_space, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": _added(ids, special, lstrip="<mask>"), "normalizer": None,
        "pre_tokenizer": byte_level, "post_processor": post, "decoder": byte_level,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": "", "fuse_unk": False,
            "byte_fallback": False, "ignore_merges": False, "vocab": ids, "merges": _merges(folder / "merges.txt", ids)}}
