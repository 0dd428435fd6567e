"""fairseq's translation models: a checkpoint (.pt) with dict.SOURCE.txt and dict.TARGET.txt beside it.

Sinusoids are tensor2tensor's timing signal. The first token has position 2, the one after the pad token's id, and so it is with learned
positions. Norms have an epsilon of 1e-5. The decoder starts from </s>, so bos is eos.
"""

from __future__ import annotations

import argparse
import pathlib
import re
from typing import Any

import numpy as np

from attend._errors import InputError
from attend.convert._compare import samples_differ_by
from attend.convert._files import Keys, Renamed, files_with, named_values, only_file, read_pickle, shown, tensors_of
from attend._packages import needed
from attend.convert._source import Converted, Source, Tensors, model, sample_texts, stack
from attend.convert._subwords import vocabulary

MARKS = (b"encoder.embed_tokens.weight",)
CURE = "save it again from fairseq with 'args' None and 'cfg' as plain dictionaries"
SIDES = ("encoder", "decoder")
ARCHITECTURES = (
    "transformer", "transformer_tiny", "transformer_iwslt_de_en", "transformer_wmt_en_de", "transformer_vaswani_wmt_en_de_big",
    "transformer_vaswani_wmt_en_fr_big", "transformer_wmt_en_de_big", "transformer_wmt_en_de_big_t2t", "transformer_align",
    "transformer_wmt_en_de_big_align")
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu_accurate": "gelu_tanh", "gelu_fast": "gelu_tanh"}
# What attend has in one form only, by the value it must have; None: not given.
ONLY = {
    "adaptive_input": False, "adaptive_softmax_cutoff": None, "no_cross_attention": False, "cross_self_attention": False,
    "no_decoder_final_norm": False, "char_inputs": False, "base_layers": 0, "encoder_layers_to_keep": None, "decoder_layers_to_keep": None,
    "encoder_xformers_att_config": None, "decoder_xformers_att_config": None}
FIRST_TOKENS = ("<s>", "<pad>", "</s>", "<unk>")
SPECIAL = {"pad": 1, "unk": 3, "bos": 2, "eos": 2}
FIRST_POSITION = SPECIAL["pad"] + 1
# Of layers of earlier versions, by number.
OLD_NORMS = {
    "encoder": ("self_attn_layer_norm", "final_layer_norm"),
    "decoder": ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm")}
WITH_FINAL_NORM = {"encoder": 2, "decoder": 3}  # the first version of a stack that has one
COPIES = re.compile(r"encoder\.layers\.\d+\.(in_proj|out_proj|fc1|fc2)_(weight|bias)")  # of weights that stand elsewhere


def _settings(path: pathlib.Path, checkpoint: Any) -> tuple[Keys, Keys]:
    """Of the model and of its task: one for both, or since fairseq 0.10 one each."""
    args, cfg = (checkpoint.get("args"), checkpoint.get("cfg")) if isinstance(checkpoint, dict) else (None, None)
    found = []
    for part in ("model", "task"):
        values = named_values(args if args is not None else cfg.get(part) if isinstance(cfg, dict) else None)
        if values is None:
            raise InputError(f"{path}: expected settings as 'args', or as 'model' and 'task' of 'cfg'")
        for side in SIDES:
            values |= {f"{side}_{name}": value for name, value in (named_values(values.pop(side, None)) or {}).items()}
        found.append(Keys(path, values))
    return found[0], found[1]


def _check(settings: Keys, task: Keys) -> None:
    named = "arch" if "arch" in settings.values else "_name"
    settings.choose(named, dict.fromkeys(ARCHITECTURES), "")
    task.choose("_name" if "_name" in task.values and "task" not in task.values else "task", {"translation": None}, "translation")
    settings.refuse(**ONLY)
    width = settings.get("decoder_embed_dim", int, settings.get("encoder_embed_dim", int, 512))
    settings.refuse(decoder_input_dim=width, decoder_output_dim=width, encoder_embed_dim=width)


def _stack(settings: Keys, side: str) -> dict[str, Any]:
    def size(name: str, default: int) -> int:  # of a decoder that gives none: the encoder's
        shared = settings.get(f"encoder_{name}", int, default) if name in ("embed_dim", "ffn_embed_dim") else default
        return int(settings.get(f"{side}_{name}", int, shared))

    positions = "learned" if settings.get(f"{side}_learned_pos", bool, False) else "sinusoidal"
    return stack(
        layers=size("layers", 6), d_model=size("embed_dim", 512), heads=size("attention_heads", 8), d_ff=size("ffn_embed_dim", 2048),
        activation=settings.choose("activation_fn", ACTIVATIONS, "relu"), norm_epsilon=1e-5,
        norm_place="pre" if settings.get(f"{side}_normalize_before", bool, False) else "post",
        positions="none" if settings.get("no_token_positional_embeddings", bool, False) else positions,
        position_convention="timing_signal", position_offset=FIRST_POSITION,
        scale_embedding=not settings.get("no_scale_embedding", bool, False),
        embedding_norm=settings.get("layernorm_embedding", bool, False))


def _of_today(tensors: Tensors) -> Tensors:
    """The names that fairseq has now, for those of its earlier versions: numbered norms; queries, keys and values in one."""
    named = Tensors()
    for name, value in tensors.items():
        norm = re.fullmatch(r"((encoder|decoder)\.layers\.\d+)\.layer_norms\.(\d)\.(weight|bias)", name)
        fused = re.fullmatch(r"(.*attn)\.in_proj_(weight|bias)", name)
        if norm and int(norm[3]) < len(OLD_NORMS[norm[2]]):
            named[f"{norm[1]}.{OLD_NORMS[norm[2]][int(norm[3])]}.{norm[4]}"] = value
        elif fused and value.ndim and len(value) % 3 == 0:
            for part, rows in zip("qkv", np.split(value, 3), strict=True):
                named[f"{fused[1]}.{part}_proj.{fused[2]}"] = rows
        elif not COPIES.fullmatch(name):
            named[name] = value
    return named


def layer_names(cross_attention: bool) -> dict[str, str]:
    """The linear layers and norms of a layer by our names, as fairseq names them, and transformers' models after it."""
    names = {}
    attentions = [("self_attention", "self_attn")] + ([("cross_attention", "encoder_attn")] if cross_attention else [])
    for ours, theirs in attentions:
        for part, projection in (("query", "q_proj"), ("key", "k_proj"), ("value", "v_proj"), ("output", "out_proj")):
            names[f"{ours}.{part}"] = f"{theirs}.{projection}"
        names[f"{ours}_norm"] = f"{theirs}_layer_norm"
    return names | {"feed_forward.inner": "fc1", "feed_forward.outer": "fc2", "feed_forward_norm": "final_layer_norm"}


def layer(renamed: Renamed, name: str, given: str, cross_attention: bool) -> None:
    for ours, theirs in layer_names(cross_attention).items():
        renamed.linear(f"{name}.{ours}", f"{given}.{theirs}")


def rename_stack(renamed: Renamed, side: str, shape: dict[str, Any], prefix: str = "") -> None:
    """All of a stack but its embedding, as fairseq has it and, after a prefix, transformers' models that come from fairseq's."""
    given = prefix + side
    if shape["positions"] == "learned":
        shape["max_positions"] = len(renamed.table(f"{side}.positions.weight", f"{given}.embed_positions.weight"))
    if shape["embedding_norm"]:
        renamed.linear(f"{side}.embedding_norm", f"{given}.layernorm_embedding")
    for number in range(shape["layers"]):
        layer(renamed, f"{side}.layers.{number}", f"{given}.layers.{number}", side == "decoder")
    if shape["norm_place"] == "pre":
        renamed.linear(f"{side}.norm", f"{given}.layer_norm")


def _check_version(renamed: Renamed, side: str, shape: dict[str, Any]) -> None:
    version = renamed.left.pop(f"{side}.version", np.ones(1, np.float32))
    if shape["norm_place"] == "pre" and not np.all(version >= WITH_FINAL_NORM[side]):
        raise InputError(f"{renamed.where}: {side}.version is below {WITH_FINAL_NORM[side]}: no norm after the stack; attend lacks it")


def _rename(tensors: Tensors, shape: dict[str, dict[str, Any]], ties: tuple[bool, bool], where: str) -> Tensors:
    renamed = Renamed(_of_today(tensors), where)
    source_target, target_output = ties
    renamed.table("encoder.embedding.weight", "encoder.embed_tokens.weight")
    if source_target:
        renamed.tied("encoder.embedding.weight", "decoder.embed_tokens.weight")
    else:
        renamed.table("decoder.embedding.weight", "decoder.embed_tokens.weight")
    head = "decoder.embed_out" if "decoder.embed_out" in renamed.left else "decoder.output_projection.weight"
    if target_output:
        renamed.tied("encoder.embedding.weight" if source_target else "decoder.embedding.weight", head)
    else:
        renamed.take("head.weight", head)
    for side in SIDES:
        _check_version(renamed, side, shape[side])
        renamed.drop(f"{side}.embed_positions._float_tensor", f"{side}.embed_positions.weights")
        rename_stack(renamed, side, shape[side])
    return renamed.finish()


def _dictionary(path: pathlib.Path) -> list[str]:
    """Tokens by id: the special ones, then those of the file, which has a token and its count in a line."""
    tokens = list(FIRST_TOKENS)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise InputError(f"can't read '{path}': {error.strerror}; expected it beside the checkpoint") from error
    except UnicodeError as error:
        raise InputError(f"{path}: not UTF-8: {error}") from error
    for number, line in enumerate(lines, 1):
        token, blank, count = line.rstrip().rpartition(" ")
        if line and not (blank and count.isdecimal()):
            raise InputError(f"{path}:{number}: '{line}' is not a token and a count; attend lacks flags such as #fairseq:overwrite")
        tokens += [token] if line else []
    return tokens


def _languages(task: Keys) -> list[str]:
    found = [task.get(key, str) for key in ("source_lang", "target_lang")]
    for language in found:
        if not language.isprintable() or pathlib.PurePath(language).name != language:
            raise InputError(f"{task.path}: source_lang and target_lang are {shown(found)}, expected names")
    return found


def _convert(source: pathlib.Path) -> Converted:
    path = only_file(source, MARKS)
    checkpoint = read_pickle(path, CURE)
    settings, task = _settings(path, checkpoint)
    _check(settings, task)
    all_one = settings.get("share_all_embeddings", bool, False)
    ties = all_one, all_one or settings.get("share_decoder_input_output_embed", bool, False)
    shape = {side: _stack(settings, side) for side in SIDES}
    tensors = _rename(tensors_of(path, checkpoint.get("model")), shape, ties, str(path))
    rows = [len(tensors["encoder.embedding.weight"])]
    rows.append(rows[0] if all_one else len(tensors["decoder.embedding.weight"]))
    languages, vocabularies, tokens = _languages(task), [], []
    for side, language, size in zip(("source", "target"), languages, rows, strict=True):
        file = path.parent / f"dict.{language}.txt"
        tokens.append(_dictionary(file))
        if len(tokens[-1]) != size:
            raise InputError(f"{file}: {len(tokens[-1])} tokens with <s>, <pad>, </s> and <unk>, expected {size}, as the model has")
        places = [path.parent / f"spm.{language}.model", path.parent]
        vocabularies.append(vocabulary(file, side, tokens[-1], SPECIAL, set(FIRST_TOKENS), places))
    return Converted(
        kind="fairseq",
        model=model(
            languages=languages, source_vocab_size=rows[0], target_vocab_size=rows[1], special_ids=SPECIAL, tie_source_target=all_one,
            tie_target_output=ties[1], **shape),
        tensors=tensors, source_vocabulary=vocabularies[0], target_vocabulary=vocabularies[1], texts=sample_texts(tokens[0]),
        provenance={"settings": shown(settings.values)})


def _compare(source: str, output: str) -> float:
    with needed("--verify", "torch fairseq"):
        import torch
        from fairseq import checkpoint_utils  # type: ignore[import-not-found, unused-ignore]
    path = only_file(pathlib.Path(source), MARKS)
    with torch.serialization.safe_globals([argparse.Namespace]):
        peers, *_ = checkpoint_utils.load_model_ensemble_and_task([str(path)], arg_overrides={"data": str(path.parent)})

    def logits(read: list[int], wrote: list[int]) -> Any:
        peer = peers[0].eval()
        return peer(torch.tensor([read]), torch.tensor([len(read)]), torch.tensor([[SPECIAL["bos"], *wrote]]))[0][0]

    return samples_differ_by(output, logits)


SOURCE = Source(
    "a Transformer of fairseq (.pt, with dict.SOURCE.txt and dict.TARGET.txt beside it)",
    lambda source: bool(files_with(source, MARKS)), _convert, _compare)
