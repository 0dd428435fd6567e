"""CTranslate2's model directories: model.bin, config.json and vocabularies, of translation models and of language models.

Such a directory lacks what cuts text into tokens. A SentencePiece model that stands in it is used; without one a text is expected to have
its tokens between spaces. Argos packages such a directory as `model`, with sentencepiece.model and metadata.json beside it. Norms have an
epsilon of 1e-5 where none is given. Before version 6 model.bin has what config.json says.
"""

from __future__ import annotations

import json
import pathlib
from dataclasses import dataclass

import numpy as np

from attend._errors import InputError
from attend.convert import _subwords
from attend.convert._compare import largest
from attend.convert._ctranslate2_file import ModelFile, read_model
from attend.convert._ctranslate2_weights import Weights
from attend.convert._files import Keys, read_json
from attend._packages import needed
from attend.convert._source import Converted, Source, model, sample_texts

LANGUAGE_MODEL = "TransformerDecoderSpec"
SPECIFICATIONS = {"TransformerSpec": 7, "TransformerBase": 7, "TransformerBig": 7, LANGUAGE_MODEL: 8}  # and their newest revisions
EPSILON = 1e-5
CONFIG = (
    "unk_token", "bos_token", "eos_token", "decoder_start_token", "add_source_bos", "add_source_eos", "layer_norm_epsilon",
    "multi_query_attention", "quantization_type", "quantization_bits", "quantization_group_size")


@dataclass
class _Settings:
    unk: str
    eos: str
    start: str  # what the decoder reads first
    adds_eos: bool  # to the source
    epsilon: float = EPSILON


@dataclass
class _Vocabulary:
    path: pathlib.Path
    tokens: list[str]  # by their ids in attend
    order: list[int]  # and the ids that they have in the source


@dataclass
class _Directory:
    path: pathlib.Path  # of model.bin
    file: ModelFile
    settings: _Settings
    vocabularies: list[_Vocabulary]  # the target's is last
    places: list[pathlib.Path]  # where SentencePiece models may lie

    @property
    def translates(self) -> bool:
        return self.file.specification != LANGUAGE_MODEL


def _settings_of_file(file: ModelFile) -> _Settings:
    unk, bos, eos = (file.text(name + "_token", usual) for name, usual in (("unk", "<unk>"), ("bos", "<s>"), ("eos", "</s>")))
    for name in ("with_source_bos", "user_decoder_start_tokens"):
        if file.number(name, 0):
            raise InputError(f"{file.where}: {name} is not 0, which attend lacks")
    start = bos if file.number("with_target_bos", 1) or file.specification == LANGUAGE_MODEL else eos
    return _Settings(unk, eos, start, bool(file.number("with_source_eos", 0)))


def _settings_of_config(path: pathlib.Path, file: ModelFile) -> _Settings:
    config = Keys(path)
    unknown = sorted(config.values.keys() - set(CONFIG))
    if unknown:
        raise InputError(f"{path}: {unknown[0]} is a key that attend lacks; expected {', '.join(CONFIG)}")
    config.refuse(add_source_bos=False, quantization_type=0)
    bos, is_language_model = config.get("bos_token", str, "<s>"), file.specification == LANGUAGE_MODEL
    start, adds_eos = bos if is_language_model else config.get("decoder_start_token", str, bos), config.get("add_source_eos", bool, False)
    starts_from_zero = np.any(file.values.get("decoder/start_from_zero_embedding", 0))
    if not adds_eos and not starts_from_zero and start != bos:
        raise InputError(
            f"{path}: decoder_start_token is {json.dumps(start)} and add_source_eos is false: its encoder reads special tokens that "
            "another program adds, as for BART and M2M-100, which attend lacks")
    epsilon = EPSILON if config.values.get("layer_norm_epsilon") is None else config.get("layer_norm_epsilon", float)
    if not 1e-12 <= epsilon <= 1:
        raise InputError(f"{path}: layer_norm_epsilon is {epsilon}, expected 1e-12 to 1")
    return _Settings(config.get("unk_token", str, "<unk>"), config.get("eos_token", str, "</s>"), start, adds_eos, epsilon)


def _read_tokens(path: pathlib.Path) -> list[str]:
    if path.suffix == ".json":
        tokens = read_json(path)
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise InputError(f"{path}: expected a JSON list of texts")
        return tokens
    try:
        lines = path.read_bytes().decode().split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8: {error}") from error
    lines = lines[:-1] if lines[-1] == "" else lines
    return [line[:-1] for line in lines] if lines and all(line.endswith("\r") for line in lines) else lines


def _find_vocabulary(folder: pathlib.Path, stem: str) -> pathlib.Path | None:
    return next((path for suffix in (".json", ".txt") if (path := folder / (stem + suffix)).is_file()), None)


def _read_vocabulary(folder: pathlib.Path, stem: str, settings: _Settings) -> _Vocabulary:
    path = _find_vocabulary(folder, stem)
    if path is None:
        raise InputError(f"'{folder}' has no {stem}.json or {stem}.txt")
    tokens = _read_tokens(path)
    if settings.unk not in tokens:
        tokens.append(settings.unk)  # as CTranslate2 does
    if settings.eos not in tokens and (settings.adds_eos or not stem.startswith("source")):
        raise InputError(f"{path}: {json.dumps(settings.eos)} is missing, which ends a text")
    return _Vocabulary(path, tokens, list(range(len(tokens))))


def _align(vocabularies: list[_Vocabulary], special: list[str]) -> None:
    """Gives each special token one id on both sides, that of the smaller vocabulary, by swapping tokens of the larger one."""
    smaller = min(vocabularies, key=lambda vocabulary: len(vocabulary.tokens)).tokens.copy()
    for vocabulary in vocabularies:
        tokens, order = vocabulary.tokens, vocabulary.order
        for token in dict.fromkeys(special):
            if token not in tokens:
                continue
            at = tokens.index(token)
            wanted = smaller.index(token) if token in smaller else at
            if wanted >= len(smaller):
                raise InputError(f"{vocabulary.path}: {token} has the id {at}, expected one below {len(smaller)}, as the other side has")
            tokens[at], tokens[wanted] = tokens[wanted], tokens[at]
            order[at], order[wanted] = order[wanted], order[at]


def _vocabularies(folder: pathlib.Path, settings: _Settings, translates: bool) -> list[_Vocabulary]:
    shared = _find_vocabulary(folder, "shared_vocabulary") is not None
    stems = ["vocabulary"] if not translates else ["shared_vocabulary"] * 2 if shared else ["source_vocabulary", "target_vocabulary"]
    vocabularies = [_read_vocabulary(folder, stem, settings) for stem in stems]
    _align(vocabularies, [settings.unk, settings.eos, settings.start])
    return vocabularies


def _folders(given: pathlib.Path) -> list[pathlib.Path]:
    """The folder that is given, and in a package of Argos the one of the model, which is the last."""
    return [given] if (given / "model.bin").is_file() else [given, given / "model"]


def _languages(folder: pathlib.Path) -> list[str]:
    """What a package of Argos says."""
    if not (folder / "metadata.json").exists():
        return []
    metadata = Keys(folder / "metadata.json")
    metadata.refuse(target_prefix="")
    return [metadata.get("from_code", str), metadata.get("to_code", str)]


def _read(given: pathlib.Path) -> _Directory:
    folders = _folders(given)
    path = folders[-1]
    file = read_model(path / "model.bin")
    newest = SPECIFICATIONS.get(file.specification)
    if newest is None:
        known = ", ".join(SPECIFICATIONS)
        raise InputError(f"{file.where}: the specification is '{file.specification}', which attend lacks; expected one of {known}")
    if file.revision > newest:
        raise InputError(f"{file.where}: revision {file.revision} of {file.specification}, expected at most {newest}")
    settings = _settings_of_config(path / "config.json", file) if file.version >= 6 else _settings_of_file(file)
    return _Directory(path, file, settings, _vocabularies(path, settings, file.specification != LANGUAGE_MODEL), folders)


def _special_ids(settings: _Settings, tokens: list[str], starts_from_zero: bool) -> dict[str, int]:
    unk = tokens.index(settings.unk)
    start = tokens.index(settings.start) if settings.start in tokens else unk  # as CTranslate2 reads it
    return {"pad": -1, "unk": unk, "bos": -1 if starts_from_zero else start, "eos": tokens.index(settings.eos)}


def _convert(folder: pathlib.Path) -> Converted:
    directory = _read(folder)
    file, settings, target = directory.file, directory.settings, directory.vocabularies[-1]
    weights = Weights(file, settings.epsilon)
    starts_from_zero = bool(file.number("decoder/start_from_zero_embedding", 0))
    # Marian's models, which start so, read eos whoever appends it.
    source_eos = not directory.translates or settings.adds_eos or starts_from_zero
    sides = ["encoder", "decoder"] if directory.translates else ["decoder"]
    for side, vocabulary in zip(sides, directory.vocabularies, strict=True):
        weights.embedding(side, vocabulary.order, str(vocabulary.path))
    stacks = {side: weights.stack(side, directory.translates and side == "decoder") for side in sides}
    head_bias = weights.head(target.order)
    special_ids, source = _special_ids(settings, target.tokens, starts_from_zero), directory.vocabularies[0]
    special = {settings.unk, settings.eos, settings.start}
    files = [
        _subwords.vocabulary(vocabulary.path, side, vocabulary.tokens, special_ids, special, directory.places)
        for side, vocabulary in (("source", source), ("target", target))]
    ties, tensors = weights.tie(), weights.finish()
    left_out = ["the rounding of sines and cosines: attend makes them in f32"] if weights.rounding > 0 else []
    if (directory.path / "vmap.txt").exists():
        left_out.append("vmap.txt: `attend shortlist` makes another")
    return Converted(
        kind="CTranslate2",
        model=model(
            task="translation" if directory.translates else "language_model", special_ids=special_ids, source_eos=source_eos,
            languages=_languages(folder), head_bias=head_bias, source_vocab_size=len(source.tokens) if directory.translates else 0,
            target_vocab_size=len(target.tokens), **ties, **stacks),
        tensors=tensors, source_vocabulary=files[0], target_vocabulary=files[1], texts=sample_texts(source.tokens),
        left_out=left_out, tolerance=1e-4 + 10 * weights.rounding,
        provenance={"specification": f"{file.specification} {file.revision}", "file_version": file.version})


def _recognises(folder: pathlib.Path) -> bool:
    path, stems = _folders(folder)[-1], ("shared_vocabulary", "target_vocabulary", "vocabulary")
    return (path / "model.bin").is_file() and any(_find_vocabulary(path, stem) for stem in stems)


def compare(source: str, output: str) -> float:
    """The largest difference of the samples' log-probabilities between CTranslate2's model and attend's."""
    with needed("--verify", "ctranslate2"):
        import ctranslate2  # type: ignore[import-untyped, unused-ignore]
    directory = _read(pathlib.Path(source))
    settings, tokens = directory.settings, [vocabulary.tokens for vocabulary in directory.vocabularies]
    kind = ctranslate2.Translator if directory.translates else ctranslate2.Generator
    peer, differences = kind(str(directory.path), compute_type="float32"), []
    for sample in read_json(pathlib.Path(output) / "samples.json"):
        wrote = [tokens[-1][token] for token in sample["target_ids"]]
        if directory.translates:
            read = [tokens[0][token] for token in sample["source_ids"]]
            wrote = [token for token in wrote if token != settings.eos]
            found = peer.score_batch([read[:-1] if settings.adds_eos else read], [wrote])[0].log_probs
        else:
            found = peer.score_batch([[settings.start, *wrote]])[0].log_probs
        expected = sample["token_log_probabilities"]  # without eos where an output is cut
        differences += [abs(ours - theirs) for ours, theirs in zip(expected, found, strict=False)]
    return largest(differences)


SOURCE = Source(
    "a model of CTranslate2 (model.bin, config.json, vocabularies as .json or .txt, SentencePiece models)", _recognises, _convert, compare)
