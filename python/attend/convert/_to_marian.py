"""Translation models as transformers' MarianMT (norms after the sub-layers) and Pegasus (norms before them).

Both have norms with an epsilon of 1e-5 and biases everywhere. MarianMT makes its positions itself: sinusoids in halves. Pegasus keeps a
table of them in its file, so it may be any. Its class of tokenizers is not needed: MarianMT's takes the SentencePiece models as they are.
Where a decoder starts from a vector of zeros it reads a token <pad>, appended for it.
"""

from __future__ import annotations

import pathlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from attend.convert._compare import check_tokens, samples_differ_by, transformers_package
from attend.convert._fairseq import layer_names
from attend.convert._marian_transformers import NEVER
from attend.convert._source import Tensors
from attend.convert._streams import halves_of_interleaved, scale, with_epsilon_post, with_epsilon_pre
from attend.convert._target import Directory, Exported, Target, position_table
from attend.convert._to_tokenizer import check_sentencepiece, tokens_of
from attend.convert._to_transformers import ACTIVATIONS, LONGEST, Renaming, never_written, to_json, writer
from attend.convert._vocabulary import without_tokens

EPSILON = 1e-5
SIDES = ("encoder", "decoder")
MODEL_KEYS = {"source_vocab_size", "target_vocab_size", "head_bias", "tie_source_target", "tie_target_output"}
STACK_KEYS = {"activation", "position_convention", "max_positions", "attention_bias", "feed_forward_bias", "scale_embedding"}
POSITIONS = {"positions", "position_offset"}


@dataclass
class _Kind:
    name: str
    architecture: str
    model_type: str
    pre: bool


MARIAN = _Kind("MarianMT of transformers", "MarianMTModel", "marian", False)
PEGASUS = _Kind("Pegasus of transformers", "PegasusForConditionalGeneration", "pegasus", True)


class _Export:
    def __init__(self, directory: Directory, rows: int, kind: _Kind) -> None:
        self.directory, self.rows, self.kind, self.model = directory, rows, kind, directory.model
        self.tensors = Tensors(directory.tensors)
        self.changed: list[str] = []
        self.left_out: list[str] = []
        self.shared, self.tied = self.model["tie_source_target"], self.model["tie_target_output"]

    def check(self) -> None:
        directory, name = self.directory, self.kind.name
        stack_keys, place = (STACK_KEYS | POSITIONS, "pre") if self.kind.pre else (STACK_KEYS, "post")
        directory.check(name, MODEL_KEYS, stack_keys, norm_place=place)
        for side in SIDES:
            directory.choose(f"{side}.activation", ACTIVATIONS, name)
        for key in ("activation", "scale_embedding", "norm_epsilon" if self.kind.pre else "position_convention"):
            directory.same(key, name)
        if self.kind.pre and not self.shared:
            raise directory.fail("tie_source_target", False, name, "true")

    def place_positions(self) -> None:
        """MarianMT's order of sines and cosines; Pegasus' tables, which have equally many rows."""
        if self.kind.pre:
            self.add_tables()
            self.changed += self.directory.changes(self.rows)
        else:
            orders = {"halves": False, "interleaved": True}
            if self.directory.choose("encoder.position_convention", orders, self.kind.name):
                self.changed.append("the order of d_model: sines first, as MarianMT has them")
                self.tensors = halves_of_interleaved(self.tensors, self.model["encoder"]["d_model"])
            self.changed += self.directory.changes(self.rows, "those that MarianMT makes")

    def add_tables(self) -> None:
        learned = [len(position_table(self.directory, side, 0)) for side in SIDES if self.model[side]["positions"] == "learned"]
        self.rows = min(learned, default=self.rows)
        if self.rows < max(learned, default=0):
            self.left_out.append(f"learned positions of one stack from {self.rows} on, which the other lacks")
        for side in SIDES:
            self.tensors[f"{side}.positions.weight"] = position_table(self.directory, side, self.rows)[: self.rows]

    def change_epsilon(self) -> None:
        """The tables of positions stand in the tensors, where the kind has them."""
        stacks = {side: self.model[side] for side in SIDES}
        own = stacks["encoder"]["norm_epsilon"]
        if all(stack["norm_epsilon"] == EPSILON for stack in stacks.values()):
            return
        text = f"the scale of weights, so that norms with an epsilon of {EPSILON:g} do what they did with {own:g}"
        if not self.kind.pre:
            for side, stack in stacks.items():
                with_epsilon_post(self.tensors, side, stack, EPSILON)
            self.changed.append(f"{text}; the first of each stack has the other epsilon alone")
            return
        for side, stack in stacks.items():
            factor = with_epsilon_pre(self.tensors, side, stack, EPSILON)
            scale(self.tensors, factor, f"{side}.positions")
        scale(self.tensors, factor, "encoder.embedding")
        if self.tied:
            scale(self.tensors, 1 / factor, "decoder.norm")
        self.changed.append(text)

    def add_pad(self) -> int:
        """The id of the pad token, which is appended where there is none, or the decoder starts from zeros."""
        ids = self.directory.special_ids
        if ids["bos"] >= 0 and ids["pad"] >= 0:
            return ids["pad"]
        size, target = self.model["source_vocab_size"], self.model["target_vocab_size"]
        if size != target:
            raise self.directory.fail("target_vocab_size", target, self.kind.name, f"{size}, as many as the source's")
        for name in ("encoder.embedding.weight", "decoder.embedding.weight", "head.weight"):
            if name in self.tensors:
                self.tensors[name] = np.pad(self.tensors[name], ((0, 1), (0, 0)))
        bias = self.tensors.get("head.bias", np.zeros(size, np.float32))
        self.tensors["head.bias"] = np.append(bias, np.float32(NEVER))
        return size

    def renamed(self) -> Tensors:
        to = Renaming(self.tensors)
        for side in SIDES:
            for number in range(self.model[side]["layers"]):
                for ours, theirs in layer_names(side == "decoder").items():
                    to.linear(f"model.{side}.layers.{number}.{theirs}", f"{side}.layers.{number}.{ours}")
            if self.kind.pre:
                to.linear(f"model.{side}.layer_norm", f"{side}.norm")
                to.tensors[f"model.{side}.embed_positions.weight"] = self.tensors[f"{side}.positions.weight"]
        source = self.tensors["encoder.embedding.weight"]
        target = source if self.shared else self.tensors["decoder.embedding.weight"]
        if self.shared:
            to.tensors["model.shared.weight"] = source
        if not self.shared or not self.tied:  # nothing is tied where the output is not
            to.tensors |= {"model.encoder.embed_tokens.weight": source, "model.decoder.embed_tokens.weight": target}
        if not self.tied:
            to.tensors["lm_head.weight"] = self.tensors["head.weight"]
        bias = self.tensors.get("head.bias", np.zeros(len(target), np.float32))
        to.tensors["final_logits_bias"] = bias.reshape(1, -1)
        return to.tensors

    def config(self, pad: int, tensors: Tensors) -> dict[str, Any]:
        encoder, ids = self.model["encoder"], self.directory.special_ids
        start = ids["bos"] if ids["bos"] >= 0 else pad
        keys = {"layers": "layers", "heads": "attention_heads", "d_ff": "ffn_dim"}
        both = {f"{side}_{theirs}": self.model[side][ours] for side in SIDES for ours, theirs in keys.items()}
        target = tensors["final_logits_bias"].shape[1]
        own = {} if self.kind.pre else {"decoder_vocab_size": target, "share_encoder_decoder_embeddings": self.shared}
        return {
            "architectures": [self.kind.architecture], "model_type": self.kind.model_type, "is_encoder_decoder": True,
            "vocab_size": len(self.tensors["encoder.embedding.weight"]), **own, "tie_word_embeddings": self.tied,
            "d_model": encoder["d_model"], **both, "activation_function": ACTIVATIONS[encoder["activation"]],
            "scale_embedding": encoder["scale_embedding"], "max_position_embeddings": self.rows, "pad_token_id": pad,
            "bos_token_id": None if ids["bos"] < 0 else ids["bos"], "eos_token_id": ids["eos"],
            "decoder_start_token_id": start, "forced_eos_token_id": None}

    def generation(self, config: dict[str, Any]) -> dict[str, Any]:
        """attend's own search, as far as transformers has it."""
        kept = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id")
        never = sorted({*never_written(self.directory.special_ids), config["pad_token_id"]})
        self.left_out.append("attend's length penalty, ((5 + length) / 6)^0.6: transformers divides by length^0.6")
        return {key: config[key] for key in kept if config[key] is not None} | {
            "num_beams": 4, "length_penalty": 0.6, "early_stopping": True, "max_length": min(self.rows, LONGEST),
            "suppress_tokens": never, "begin_suppress_tokens": [config["eos_token_id"]]}

    def tokens(self, pad: int) -> dict[str, list[str]]:
        """Of each side by id; special ones have one id on both."""
        found = {}
        for side, content in self.directory.vocabularies.items():
            kind = check_sentencepiece(content, f"{self.directory.path}: the {side}'s vocabulary")
            if kind in ("word", "char") and side == "source":
                self.left_out.append(f"each unknown {kind} as a token: MarianMT's tokenizer makes one of those that follow each other")
            found[side] = tokens_of(content)
            if pad == len(found[side]):
                found[side].append(next(name for name in ("<pad>", "<pad_>", "<pad__>") if name not in found[side]))
        for name, i in (self.directory.special_ids | {"pad": pad}).items():
            if i >= 0 and name != "bos" and found["source"][i] != found["target"][i]:
                raise self.directory.fail(f"special_ids.{name}", i, self.kind.name, "one token in both vocabularies")
        return found

    def tokenizer(self, pad: int) -> dict[str, bytes]:
        """MarianMT's: SentencePiece models, and lists of tokens with ids."""
        if not self.directory.vocabularies:
            self.left_out.append("a tokenizer: the model has no vocabulary")
            return {}
        tokens, languages = self.tokens(pad), self.model["languages"]
        source, target = languages if len(languages) == 2 else (None, None)
        separate = tokens["source"] != tokens["target"]
        settings = {
            "tokenizer_class": "MarianTokenizer", "source_lang": source, "target_lang": target, "separate_vocabs": separate,
            "model_max_length": self.rows, "clean_up_tokenization_spaces": False}
        special = self.directory.special_ids | {"pad": pad}
        settings |= {f"{name}_token": tokens["target"][i] for name, i in special.items() if i >= 0}
        files = {f"{side}.spm": without_tokens(content) for side, content in self.directory.vocabularies.items()}
        names = {"source": "vocab.json", "target": "target_vocab.json"} if separate else {"source": "vocab.json"}
        files |= {name: to_json({token: i for i, token in enumerate(tokens[side])}) for side, name in names.items()}
        return files | {"tokenizer_config.json": to_json(settings)}

    def run(self) -> Exported:
        self.check()
        self.place_positions()
        self.change_epsilon()
        pad = self.add_pad()
        tensors = self.renamed()
        config = self.config(pad, tensors)
        files = {"generation_config.json": to_json(self.generation(config))} | self.tokenizer(pad)
        if self.directory.protects:
            self.left_out.append("protected spans: transformers translates them like other text")
        return Exported(self.kind.name, writer(config, tensors, files), self.changed, self.left_out)


def _compare(directory: Directory, output: pathlib.Path) -> float:
    transformers = transformers_package()
    import torch

    peer = transformers.AutoModelForSeq2SeqLM.from_pretrained(output, dtype=torch.float32).eval()
    start = peer.config.decoder_start_token_id
    if directory.vocabularies and not directory.protects:
        tokenizer = transformers.AutoTokenizer.from_pretrained(output)
        check_tokens(str(directory.path), lambda sample: (sample["source"], sample["source_ids"]), tokenizer)

    def logits(read: list[int], wrote: list[int]) -> Any:
        return peer(input_ids=torch.tensor([read]), decoder_input_ids=torch.tensor([[start, *wrote]])).logits[0]

    return samples_differ_by(str(directory.path), logits)


def _target(kind: _Kind, takes: str, place: str) -> Target:
    def fits(model: dict[str, Any]) -> bool:
        return bool(model["encoder"] and model["decoder"] and model["encoder"]["norm_place"] == place)

    return Target("transformers", takes, fits, lambda directory, rows: _Export(directory, rows, kind).run(), _compare)


TARGETS = (
    _target(MARIAN, "translation models with norms after the sub-layers, as MarianMT", "post"),
    _target(PEGASUS, "translation models with norms before the sub-layers, as Pegasus", "pre"))
