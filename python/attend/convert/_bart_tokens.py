"""How BART's family reads and writes text: the tokens by id, what cuts text into them, and what stands around a text.

BART has BPE of bytes. The others have a SentencePiece model, whose pieces get other ids; tokens of their own, such as tags of languages,
stand before or behind them. transformers 5 writes tokenizer.json alone, which holds all of it.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
from collections.abc import Callable
from typing import Any

from attend._errors import InputError, UsageError
from attend.convert._files import Keys, optional_keys, shown, token_of, tokens_by_id
from attend.convert._sentencepiece_json import SentencePieceJson
from attend.convert._source import Languages, sample_texts
from attend.convert._subwords import vocabulary
from attend.convert._tokenizer_files import loaded, read_tokenizer
from attend.convert._vocabulary import pieces_of, placeholders, with_tokens

SENTENCEPIECE = ("sentencepiece.bpe.model", "spiece.model", "sentencepiece.model", "spm.model")
# What SentencePiece models begin with, and what fairseq's models have in place of it.
PIECES, FIRST = ["<unk>", "<s>", "</s>"], ["<s>", "<pad>", "</s>", "<unk>"]
CURE = "put the model's SentencePiece model beside it, as sentencepiece.bpe.model"
PEGASUS_PIECES = ["<pad>", "</s>", "<unk>"]
IDS = {"bart": (1, 2, 2), "mbart": (1, 2, 2), "pegasus": (0, 1, 0), "m2m_100": (1, 2, 2)}  # pad, eos, the decoder's start
# Languages, in the order of their tags' ids.
MBART = (
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP nl_XX ro_RO ru_RU si_LK "
    "tr_TR vi_VN zh_CN").split()
MBART_50 = [*MBART, *(
    "af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX "
    "uk_UA ur_PK xh_ZA gl_ES sl_SI").split()]
M2M100 = {
    "m2m100": (
        "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy id ig ilo is it "
        "ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw "
        "ta th tl tn tr uk ur uz vi wo xh yi yo zh zu").split(),
    "wmt21": "en ha is ja cs ru zh de".split(),
}
TAGS = {  # by the classes of transformers' tokenizers: how a tag spells a language
    "MBartTokenizer": "([a-z]{2}_[A-Z]{2})", "MBart50Tokenizer": "([a-z]{2}_[A-Z]{2})", "M2M100Tokenizer": "__([a-z]{2,3})__",
    "NllbTokenizer": "([a-z]{3}_[A-Z][a-z]{3})"}
ANY_TOKENIZER = (None, "PreTrainedTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend")  # classes that say nothing


@dataclasses.dataclass
class Frame:
    """Fields of `model` in config.json."""

    special_ids: dict[str, int]
    source_begin: list[int]
    source_end: list[int]
    target_begin: list[int]
    languages: list[str]


@dataclasses.dataclass
class Tokens:
    vocabulary: bytes
    texts: list[str]
    frame: Frame
    left_out: list[str]


class _Files:
    """The files of a model's folder, and what they say of ids."""

    def __init__(self, folder: pathlib.Path, config: Keys, generation: Keys, rows: int) -> None:
        self.folder, self.config, self.generation, self.rows = folder, config, generation, rows
        self.settings = optional_keys(folder / "tokenizer_config.json")
        self.sentencepiece = next((folder / name for name in SENTENCEPIECE if (folder / name).is_file()), None)
        self.json = folder / "tokenizer.json"

    def id(self, keys: Keys, name: str, default: int) -> int:
        value = int(keys.get(name, int, default))
        if not 0 <= value < self.rows:
            raise InputError(f"{keys.path}: {name} is {value}, expected an id below {self.rows}, the rows of the embedding")
        return value

    def first(self) -> list[int]:
        """The token that every output begins with."""
        name = "forced_bos_token_id"
        return [self.id(self.generation, name, 0)] if name in self.generation.values else []

    def token(self, name: str, default: str) -> str:
        return token_of(self.settings.values, name, default)

    def pieces(self, first: list[str]) -> list[str]:
        """SentencePiece's, which begin with these."""
        if self.sentencepiece is None:
            raise InputError(f"'{self.folder}' has no tokenizer, expected tokenizer.json or one of {', '.join(SENTENCEPIECE)}")
        pieces = pieces_of(self.sentencepiece.read_bytes(), str(self.sentencepiece))
        if pieces[: len(first)] != first:
            raise InputError(f"{self.sentencepiece}: its first pieces are {shown(pieces[:3])}, expected {shown(first)}")
        return pieces


@dataclasses.dataclass
class _List:
    """Tokens by id, and the file that lists them."""

    tokens: list[str]
    without_text: set[str]
    where: pathlib.Path
    json: SentencePieceJson | None = None

    def vocabulary(self, files: _Files, special_ids: dict[str, int]) -> bytes:
        more = placeholders(self.tokens, files.rows, str(self.where))
        tokens, without_text = [*self.tokens, *more], self.without_text | set(more)
        if files.sentencepiece is None and self.json is not None:
            return with_tokens(self.json.sentencepiece(), tokens, special_ids, without_text=without_text)
        places = [files.sentencepiece] if files.sentencepiece is not None else []
        return vocabulary(self.where, "source", tokens, special_ids, without_text, [*places, files.folder])

    def special_ids(self, files: _Files) -> dict[str, int]:
        pad, eos, start = IDS[files.config.values["model_type"]]
        unknown = files.token("unk_token", "<unk>")
        if unknown not in self.tokens:
            raise InputError(f"{self.where}: token {json.dumps(unknown)} is missing")
        return {
            "pad": files.id(files.config, "pad_token_id", pad), "unk": self.tokens.index(unknown),
            "bos": files.id(files.generation, "decoder_start_token_id", start), "eos": files.id(files.config, "eos_token_id", eos)}


def _list(files: _Files, tokens: Callable[[], list[str]], without_text: Callable[[], set[str]]) -> _List:
    """What tokenizer.json lists; where it is missing, what the family's rule gives."""
    if not files.json.exists():
        return _List(tokens(), without_text(), files.sentencepiece or files.folder)
    found = SentencePieceJson(files.json, CURE)
    return _List(found.tokens, found.special, files.json, found)


def read_tokens(folder: pathlib.Path, config: Keys, generation: Keys, rows: int, languages: Languages) -> Tokens:
    files, family = _Files(folder, config, generation, rows), config.get("model_type", str)
    if family in ("mbart", "m2m_100"):
        return _of_languages(files, languages)
    return _bart(files) if family == "bart" else _pegasus(files)


def _bart(files: _Files) -> Tokens:
    """A source stands between <s> and </s>. The decoder starts from </s>, and outputs begin with <s>."""
    read = read_tokenizer(files.folder)
    begin, eos = read.special_ids["bos"], read.special_ids["eos"]
    start = files.id(files.generation, "decoder_start_token_id", IDS["bart"][2])
    if start >= len(read.tokens):
        raise InputError(f"{files.generation.path}: decoder_start_token_id is {start}, expected a token's: there are {len(read.tokens)}")
    tokenizer = json.loads(read.content)
    left_out = _without_rows(tokenizer, read.tokens, files)
    # Names what stands before and after a text: before an output, as attend takes it.
    tokenizer["post_processor"] = {
        "type": "RobertaProcessing", "cls": [read.tokens[start], start], "sep": [read.tokens[eos], eos], "trim_offsets": True,
        "add_prefix_space": False}
    file = loaded(json.dumps(tokenizer, ensure_ascii=False, indent=1).encode(), files.json).padded(files.rows, files.folder)
    return Tokens(file.content, file.texts(), Frame(file.special_ids, [begin], [], files.first() or [begin], []), left_out)


def _without_rows(tokenizer: dict[str, Any], tokens: list[str], files: _Files) -> list[str]:
    """Takes away the added tokens that the embedding has no rows for, such as the <mask> of BART's summarizers."""
    listed = tokenizer.get("added_tokens") or []
    added = [token["content"] for token in listed if token["id"] >= files.rows]
    if sorted(added) != sorted(tokens[files.rows :]):
        raise InputError(f"'{files.folder}' has a tokenizer of {len(tokens)} tokens, expected {files.rows}, the rows of the embedding")
    tokenizer["added_tokens"] = [token for token in listed if token["id"] < files.rows]
    for token in added:
        tokenizer["model"]["vocab"].pop(token, None)
    return [f"the token {token}, which the embedding has no row for" for token in added]


def _pegasus(files: _Files) -> Tokens:
    """A source ends with </s>. The decoder starts from <pad>. 105 tokens stand before SentencePiece's, from <unk> on."""
    names = [files.token("pad_token", "<pad>"), files.token("eos_token", "</s>"), "<mask_1>", "<mask_2>"]
    first = [*names, *(f"<unk_{i}>" for i in range(2, min(files.settings.get("offset", int, 103), files.rows)))]
    listed = _list(files, lambda: [*first, *files.pieces(PEGASUS_PIECES)[2:]], lambda: set(first))
    special = listed.special_ids(files)
    return Tokens(listed.vocabulary(files, special), sample_texts(listed.tokens), Frame(special, [], [], files.first(), []), [])


def _of_languages(files: _Files, languages: Languages) -> Tokens:
    """A tag of its language stands before a source and, after the decoder's start, before a target. In the first mBART and old NLLBs it
    stands after a source; the first mBART's decoder starts from the target's."""
    kind = _kind(files)
    listed = _listed(files, kind)
    special = listed.special_ids(files)
    tags = {found[1]: i for i, token in enumerate(listed.tokens) if token in listed.without_text and (found := re.fullmatch(TAGS[kind], token))}
    starts = kind == "MBartTokenizer"
    said = {i: name for name, i in tags.items()}.get(special["bos"] if starts else (files.first() or [-1])[0])
    asked = languages.source or files.settings.values.get("src_lang"), languages.target or files.settings.values.get("tgt_lang") or said
    source, target = (_choose(files, side, name, list(tags)) for side, name in zip(("source", "target"), asked, strict=True))
    before, after = ([], [tags[source]]) if starts or files.settings.get("legacy_behaviour", bool, False) else ([tags[source]], [])
    if starts:
        special["bos"] = tags[target]
    frame = Frame(special, before, after, [] if starts else [tags[target]], [_code(name, list(tags)) for name in (source, target)])
    return Tokens(listed.vocabulary(files, special), sample_texts(listed.tokens), frame, [])


def _kind(files: _Files) -> str:
    """The tokenizer's class, said or by the files."""
    keys = files.settings if files.settings.values.get("tokenizer_class") else files.config
    name = keys.values.get("tokenizer_class")
    name = name.removesuffix("Fast") if isinstance(name, str) and name not in ANY_TOKENIZER else name
    if name in TAGS:
        return str(name)
    if name not in ANY_TOKENIZER:
        raise InputError(f"{keys.path}: tokenizer_class is {shown(name)}, which attend lacks; expected one of {', '.join(TAGS)}")
    if files.config.values["model_type"] == "m2m_100":
        return "M2M100Tokenizer" if (files.folder / "vocab.json").exists() else "NllbTokenizer"
    tokens = SentencePieceJson(files.json, CURE).tokens if files.json.exists() else files.pieces(PIECES)
    return "MBart50Tokenizer" if MBART_50[-1] in tokens or files.rows - len(tokens) > len(MBART_50) else "MBartTokenizer"


def _listed(files: _Files, kind: str) -> _List:
    if kind == "M2M100Tokenizer":
        tags = [f"__{name}__" for name in files.settings.choose("language_codes", M2M100, "m2m100")]
        return _List([*tokens_by_id(files.folder / "vocab.json"), *tags], {*FIRST, *tags}, files.folder / "vocab.json")

    def tags_of() -> list[str]:
        return _nllb(files) if kind == "NllbTokenizer" else MBART_50 if kind == "MBart50Tokenizer" else MBART

    mask = files.token("mask_token", "<mask>")
    return _list(files, lambda: [*FIRST, *files.pieces(PIECES)[3:], *tags_of(), mask], lambda: {*FIRST, *tags_of(), mask})


def _nllb(files: _Files) -> list[str]:
    """The languages that a file of settings lists, in the order of their ids."""
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        given = optional_keys(files.folder / name).values
        for key in ("additional_special_tokens", "extra_special_tokens"):
            listed = given[key] if isinstance(given.get(key), list) else []
            tokens = [token["content"] if isinstance(token, dict) and "content" in token else token for token in listed]
            found = [token for token in tokens if isinstance(token, str) and re.fullmatch(TAGS["NllbTokenizer"], token)]
            if found:
                return found
    raise InputError(f"'{files.folder}' lists no languages, expected tokenizer.json, or special_tokens_map.json with additional_special_tokens")


def _choose(files: _Files, side: str, asked: Any, names: list[str]) -> str:
    """A language by its whole name or, where no other has it, by what stands before _."""
    found = [name for name in names if name == asked] or [name for name in names if name.split("_")[0] == asked]
    if len(found) == 1:
        return found[0]
    is_said = "not given" if asked is None else shown(asked)
    raise UsageError(f"'{files.folder}' is a model of several languages: {side}_language is {is_said}, expected one of {', '.join(names)}")


def _code(name: str, names: list[str]) -> str:
    """For config.json: the language, with its script where the model has several."""
    language = name.split("_")[0]
    return language if sum(other.split("_")[0] == language for other in names) == 1 else name.replace("_", "-")
