"""transformers' Whisper: config.json, model.safetensors or pytorch_model.bin, tokenizer.json, preprocessor_config.json, generation_config.json.

A model of many languages reads a token of the language and one of what to do, and becomes one that transcribes that language or
translates it to English. Times are left to cross-attention: outputs have no tokens of times.
"""

from __future__ import annotations

import json
import pathlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attend._errors import InputError, UsageError
from attend.convert._compare import largest, transformers_package, transformers_peer
from attend.convert._fairseq import rename_stack
from attend.convert._files import Keys, Renamed, model_type, optional_keys, read_json, read_weights, shown
from attend.convert._marian_transformers import ACTIVATIONS
from attend.convert._sinusoids import position_fields
from attend.convert._source import Converted, Languages, Source, Tensors, model, stack
from attend.convert._tokenizer_files import TokenizerFile, loaded

FIRST_OF_MANY = 51865  # tokens of the smallest model of many languages
START, TRANSCRIBE, TRANSLATE, WITHOUT_TIMES, END = (
    f"<|{name}|>" for name in ("startoftranscript", "transcribe", "translate", "notimestamps", "endoftext"))
KNOWN_LENGTHS = (2, 3)  # of a language's code
SAMPLES = ["made digits 1", "made digits 2"]
TIMES_LEFT_OUT = "tokens of times: attend finds times of words by cross-attention"


@dataclass
class Decoding:
    """What the decoder reads before an output, and what an output never has."""

    is_multilingual: bool
    never: list[int] = field(default_factory=list)
    never_first: list[int] = field(default_factory=list)
    alignment_heads: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        heads = self.alignment_heads
        if not all(isinstance(head, list) and len(head) == 2 and all(isinstance(i, int) and i >= 0 for i in head) for head in heads):
            raise InputError(f"alignment_heads is {shown(heads)}, expected pairs of a layer and a head")

    def alignment_layer(self) -> int:
        """The one with most heads that align, from 1; the later of equal ones; 0: nothing is known of heads."""
        layers = Counter(layer for layer, _ in self.alignment_heads)
        return max(layers, key=lambda layer: (layers[layer], layer)) + 1 if layers else 0


def _frames(mels: int, **more: Any) -> dict[str, Any]:
    return {
        "rate": 16000, "fft": 400, "hop": 160, "mels": mels, "low": 0.0, "high": 0.0, "scale": "whisper", "kernels": [3, 3], "strides": [1, 2],
        "longest_seconds": 30.0, "padded_seconds": 30.0} | more


def put_kernel(renamed: Renamed, number: int, given: str) -> int:
    """A convolution [D, in, 3] as attend has it, each row's numbers of a moment side by side. Returns `in`. `given`: the name up to
    `weight` and `bias`."""
    name = f"encoder.convolutions.{number}"
    kernel = renamed.take(f"{name}.weight", f"{given}weight")
    if kernel.ndim != 3 or kernel.shape[2] != 3:
        raise InputError(f"{renamed.where}: tensor '{given}weight' has the shape {list(kernel.shape)}, expected [any, any, 3]")
    renamed.tensors[f"{name}.weight"] = np.ascontiguousarray(kernel.transpose(0, 2, 1).reshape(len(kernel), -1))
    renamed.take(f"{name}.bias", f"{given}bias")
    return int(kernel.shape[1])


def _id(tokens: dict[str, int], token: str, where: pathlib.Path) -> int:
    if token not in tokens:
        raise InputError(f"'{where}': the tokenizer lacks the token {token}, which Whisper's have")
    return tokens[token]


def _prompt(tokens: dict[str, int], decoding: Decoding, languages: Languages, where: pathlib.Path) -> tuple[list[int], list[str]]:
    """What stands between the start and an output, and the two languages."""
    source, target = languages.source, languages.target or languages.source
    if not decoding.is_multilingual:
        if (source or "en", target or "en") != ("en", "en"):
            raise UsageError(f"'{where}' is a model of English alone: leave out source_language and target_language")
        return [_id(tokens, WITHOUT_TIMES, where)], ["en", "en"]
    known = [token[2:-2] for token in tokens if token.startswith("<|") and len(token) - 4 in KNOWN_LENGTHS and token[2:-2].isalpha()]
    if source not in known:
        is_said = "not given" if source is None else shown(source)
        raise UsageError(f"'{where}' is a model of several languages: source_language is {is_said}, expected one of {', '.join(known)}")
    if target not in (source, "en"):
        raise UsageError(f"'{where}' writes {source} or English: target_language is {shown(target)}, expected {source} or en")
    does = TRANSCRIBE if target == source else TRANSLATE
    return [_id(tokens, token, where) for token in (f"<|{source}|>", does, WITHOUT_TIMES)], [source, str(target)]


def _vocabulary(folder: pathlib.Path, rows: int) -> tuple[TokenizerFile, dict[str, int]]:
    """A tokenizer whose texts begin and end as attend's outputs do, and its tokens."""
    file = Keys(folder / "tokenizer.json")
    added = {token["content"]: token["id"] for token in file.get("added_tokens", list, [])}
    start, end = (_id(added, token, folder) for token in (START, END))
    post_processor = {"type": "RobertaProcessing", "cls": [START, start], "sep": [END, end], "trim_offsets": True, "add_prefix_space": False}
    content = json.dumps(file.values | {"post_processor": post_processor}, ensure_ascii=False, indent=1).encode()
    read = loaded(content, file.path)
    if len(read.tokens) > rows:
        raise InputError(f"'{folder}' has a tokenizer of {len(read.tokens)} tokens, expected at most {rows}, the rows of the embedding")
    return read.padded(rows, folder), {token: i for i, token in enumerate(read.tokens)}


def make_model(
    folder: pathlib.Path, stacks: dict[str, dict[str, Any]], rows: int, sound: dict[str, Any], decoding: Decoding, languages: Languages,
) -> tuple[dict[str, Any], TokenizerFile]:
    """`model` of config.json, and the vocabulary."""
    vocabulary, tokens = _vocabulary(folder, rows)
    prompt, of = _prompt(tokens, decoding, languages, folder)
    for name, ids in (("suppress_tokens", decoding.never), ("begin_suppress_tokens", decoding.never_first)):
        if any(not isinstance(i, int) or not 0 <= i < rows for i in ids):
            raise InputError(f"'{folder}': {name} has an id that is none of the {rows} tokens'")
    return model(
        task="transcription", languages=of, input="frames", frames=sound, source_vocab_size=0, target_vocab_size=rows,
        special_ids=vocabulary.special_ids, target_begin=prompt, suppress_tokens=decoding.never, begin_suppress_tokens=decoding.never_first,
        alignment_layer=min(decoding.alignment_layer(), stacks["decoder"]["layers"]), tie_source_target=False, **stacks), vocabulary


def frames_of(folder: pathlib.Path, mels: int) -> dict[str, Any]:
    keys = optional_keys(folder / "preprocessor_config.json")
    keys.refuse(sampling_rate=16000, hop_length=160, n_fft=400, padding_value=0.0, dither=0.0)
    return _frames(mels, padded_seconds=float(keys.get("chunk_length", int, 30)))


def _decoding(folder: pathlib.Path, config: Keys) -> Decoding:
    path = folder / "generation_config.json"
    given = optional_keys(path).values or config.values
    many = given.get("is_multilingual")
    return Decoding(
        is_multilingual=many if isinstance(many, bool) else config.count("vocab_size") >= FIRST_OF_MANY,
        never=given.get("suppress_tokens") or [], never_first=given.get("begin_suppress_tokens") or [], alignment_heads=given.get("alignment_heads") or [])


def _stacks(config: Keys, renamed: Renamed, prefix: str) -> dict[str, dict[str, Any]]:
    """Takes all tensors but the embedding and the convolutions."""
    stacks = {}
    for side in ("encoder", "decoder"):
        stacks[side] = stack(
            layers=config.count(f"{side}_layers"), d_model=config.count("d_model"), heads=config.count(f"{side}_attention_heads"),
            d_ff=config.count(f"{side}_ffn_dim"), activation=config.choose("activation_function", ACTIVATIONS, "gelu"), norm_place="pre",
            norm_epsilon=1e-5, positions="learned", scale_embedding=False)
    positions = f"{prefix}encoder.embed_positions.weight"
    found = position_fields(renamed.left[positions]) if positions in renamed.left else {}
    if "position_convention" in found:
        renamed.drop(positions)
        stacks["encoder"].update(found, positions="sinusoidal")
    for name in [name for name in renamed.left if name.endswith("k_proj.weight")]:
        renamed.left.setdefault(name.replace(".weight", ".bias"), np.zeros(len(renamed.left[name]), np.float32))
    for side, shape in stacks.items():
        rename_stack(renamed, side, shape, prefix)
    return stacks


def _rename(config: Keys, tensors: Tensors, where: str) -> tuple[Tensors, dict[str, dict[str, Any]], int]:
    renamed = Renamed(tensors, where)
    prefix = "model." if any(name.startswith("model.") for name in tensors) else ""
    embedding = f"{prefix}decoder.embed_tokens.weight"
    renamed.table("decoder.embedding.weight", embedding if embedding in tensors else "proj_out.weight")
    renamed.tied("decoder.embedding.weight", "proj_out.weight")
    mels = [put_kernel(renamed, number, f"{prefix}encoder.conv{number + 1}.") for number in (0, 1)][0]
    stacks = _stacks(config, renamed, prefix)
    return renamed.finish(), stacks, mels


def _convert_between(folder: pathlib.Path, languages: Languages) -> Converted:
    config = Keys(folder / "config.json")
    config.refuse(scale_embedding=False, tie_word_embeddings=True)
    tensors, stacks, mels = _rename(config, read_weights(folder), str(folder))
    sound = frames_of(folder, mels)
    if (bins := config.count("num_mel_bins", 80)) != mels:
        raise InputError(f"{config.path}: num_mel_bins is {bins}, but the first convolution reads {mels}")
    rows = len(tensors["decoder.embedding.weight"])
    shape, vocabulary = make_model(folder, stacks, rows, sound, _decoding(folder, config), languages)
    return Converted(
        kind="transformers Whisper", model=shape, tensors=tensors, source_vocabulary=vocabulary.content, target_vocabulary=vocabulary.content,
        texts=SAMPLES, left_out=[TIMES_LEFT_OUT], provenance={"config": json.dumps(config.values, sort_keys=True)})


def _convert(folder: pathlib.Path) -> Converted:
    return _convert_between(folder, Languages())


def features(output: str) -> list[tuple[dict[str, Any], Any]]:
    """Each sample and its frames [1, mels, T], as transformers makes them."""
    shape = read_json(pathlib.Path(output) / "config.json")["model"]["frames"]
    extractor = transformers_package().WhisperFeatureExtractor(feature_size=shape["mels"], chunk_length=int(shape["padded_seconds"]))
    made = []
    for sample in read_json(pathlib.Path(output) / "samples.json"):
        sound = np.frombuffer(bytes.fromhex(sample["sound"]), "<i2").astype(np.float32) / 32768
        made.append((sample, extractor(sound, sampling_rate=shape["rate"], return_tensors="np").input_features))
    return made


def _compare(source: str, output: str) -> float:
    peer = transformers_peer(source, "WhisperForConditionalGeneration")
    import torch

    shape, differences = read_json(pathlib.Path(output) / "config.json")["model"], []
    prompt = [shape["special_ids"]["bos"], *shape["target_begin"]]
    for sample, numbers in features(output):
        wrote = torch.tensor(sample["target_ids"])
        with torch.no_grad():
            logits = peer(input_features=torch.tensor(numbers), decoder_input_ids=torch.tensor([[*prompt, *sample["target_ids"][:-1]]])).logits[0]
        found = logits[len(prompt) - 1 :].double().log_softmax(-1).gather(1, wrote.unsqueeze(1)).squeeze(1)
        differences += (found - torch.tensor(sample["token_log_probabilities"])).abs().tolist()
    return largest(differences)


SOURCE = Source(
    "Whisper of transformers (config.json with model_type whisper, tokenizer.json, preprocessor_config.json)",
    lambda folder: model_type(folder) == "whisper", _convert, _compare, convert_between=_convert_between, model_types=("whisper",))
