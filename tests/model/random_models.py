"""Writes small models whose weights are drawn at random: a language model, and an encoder for each of its tasks."""

import array
import hashlib
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

SEED = 16  # one with which labels differ from word to word
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "data/golden_v1"


def reverse_of(model, back):
    """Copies a model to `back`, said to be of the other direction."""
    shutil.copytree(model, back, dirs_exist_ok=True)
    config = json.loads((back / "config.json").read_text(encoding="utf-8"))
    config["model"]["languages"].reverse()
    (back / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return back


def tensors_of_stack(name, stack, rows, cross_attention=False):
    d_model, d_ff = stack["d_model"], stack["d_ff"]
    yield f"{name}.embedding.weight", [rows, d_model]
    if stack["positions"] == "learned":
        yield f"{name}.positions.weight", [stack["max_positions"], d_model]
    for layer in range(stack["layers"]):
        prefix = f"{name}.layers.{layer}."
        attentions = ["self_attention", "cross_attention"] if cross_attention else ["self_attention"]
        for attention in attentions:
            for part in ("query", "key", "value", "output"):
                yield f"{prefix}{attention}.{part}.weight", [d_model, d_model]
        yield f"{prefix}feed_forward.inner.weight", [d_ff, d_model]
        yield f"{prefix}feed_forward.inner.bias", [d_ff]
        yield f"{prefix}feed_forward.outer.weight", [d_model, d_ff]
        yield f"{prefix}feed_forward.outer.bias", [d_model]
        for norm in (*(f"{attention}_norm" for attention in attentions), "feed_forward_norm"):
            yield f"{prefix}{norm}.weight", [d_model]
            yield f"{prefix}{norm}.bias", [d_model]


def tensors_of(model):
    """Names and shapes of a stack alone, in the paper's form, and of its head; of a parser both stacks."""
    if model["task"] == "parsing":
        yield from tensors_of_stack("encoder", model["encoder"], model["source_vocab_size"])
        yield from tensors_of_stack("decoder", model["decoder"], model["target_vocab_size"], cross_attention=True)
        return
    if frames := model.get("frames"):
        inputs, d_model = frames["mels"], model["encoder"]["d_model"]
        for number, kernel in enumerate(frames["kernels"]):
            yield from [(f"encoder.convolutions.{number}.weight", [d_model, kernel * inputs]), (f"encoder.convolutions.{number}.bias", [d_model])]
            inputs = d_model
        yield from list(tensors_of_stack("encoder", model["encoder"], 0))[1:]  # without the embedding of tokens
        yield from tensors_of_stack("decoder", model["decoder"], model["target_vocab_size"], cross_attention=True)
        return
    if model.get("fusion"):
        yield from tensors_of_items(model)
        return
    if model["decoder"]:
        yield from tensors_of_stack("decoder", model["decoder"], model["target_vocab_size"])
        return
    stack = tensors_of_stack("encoder", model["encoder"], model["source_vocab_size"])
    if patches := model.get("patches"):
        next(stack)  # of an embedding of tokens
        d_model = model["encoder"]["d_model"]
        yield from [("encoder.patches.weight", [d_model, patches["patch"] ** 2 * patches["channels"]]), ("encoder.patches.bias", [d_model]),
                    ("encoder.patches.class_token", [d_model])]
    yield from stack
    if labels := len(model["labels"]):
        yield "head.weight", [labels, model["encoder"]["d_model"]]
        yield "head.bias", [labels]


def tensors_of_items(model):
    """Of a model of items: two stacks below one, of which the text's alone has an embedding."""
    fusion, d_model = model["fusion"], model["encoder"]["d_model"]
    patches, text, picture = fusion["patches"], fusion["text"], fusion["picture"]
    yield from tensors_of_stack("text", text, model["source_vocab_size"])
    yield from [("picture.patches.weight", [picture["d_model"], patches["patch"] ** 2 * patches["channels"]]), ("picture.patches.bias", [picture["d_model"]])]
    for name, stack in (("picture", picture), ("encoder", model["encoder"])):
        below = tensors_of_stack(name, stack, 0)
        next(below)  # of an embedding of tokens
        yield from below
    yield from [("encoder.summary", [d_model]), ("encoder.nodes.weight", [len(fusion["nodes"]), d_model])]
    for stack in ("text", "picture"):
        if fusion["shared_width"]:
            yield f"{stack}.projection.weight", [fusion["shared_width"], fusion[stack]["d_model"]]
    for name, stack in (("text", text), ("picture", picture)):
        yield from [(f"encoder.from_{name}.weight", [d_model, stack["d_model"]]), (f"encoder.from_{name}.bias", [d_model])]
    yield from [("head.weight", [len(model["labels"]), d_model]), ("head.bias", [len(model["labels"])])]


def write_safetensors(path, tensors, seed=SEED):
    generator = random.Random(seed)
    header, data = {}, b""
    for name, shape in tensors:
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        mean = 1 if name.endswith("norm.weight") else 0
        values = struct.pack(f"<{count}f", *(mean + 0.3 * generator.gauss(0, 1) for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_config(folder, config, files):
    """With the digests of the files, which are there."""
    config["sha256"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files}
    (folder / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    return folder


def write_model(folder, config):
    """The directory's vocab.spm is there."""
    write_safetensors(folder / "model.safetensors", tensors_of(config["model"]))
    (folder / "samples.json").write_text("[]\n", encoding="utf-8")
    return write_config(folder, config, list(config["sha256"]))


def write_adapter(folder, base, seed=1, rank=2):
    """An adapter of the queries and values of the f32 model in `base`."""
    folder.mkdir(parents=True)
    # Its configuration as this version has it.
    int8 = folder.with_name(folder.name + ".int8")
    subprocess.run([pathlib.Path(os.environ["BUILD_DIR"]) / "attend", "quantize", base, "--output", int8, "--quiet"], check=True)
    config = json.loads((int8 / "config.json").read_text(encoding="utf-8"))
    shutil.rmtree(int8)
    weights = (base / "model.safetensors").read_bytes()
    header = json.loads(weights[8:8 + struct.unpack("<Q", weights[:8])[0]])
    matrices = [name for name in header if name.endswith((".query.weight", ".value.weight"))]
    factors = []
    for name in matrices:
        rows, columns = header[name]["shape"]
        factors += [(name.replace(".weight", ".adapter_a"), [rank, columns]), (name.replace(".weight", ".adapter_b"), [rows, rank])]
    write_safetensors(folder / "adapter.safetensors", factors, seed)
    config["provenance"] = {"seed": seed}
    config["adapter"] = {"base_sha256": hashlib.sha256(weights).hexdigest(), "rank": rank, "alpha": 4.0 * rank, "head": False, "matrices": matrices}
    return write_config(folder, config, ["adapter.safetensors"])


def write_language_model(folder, **decoder):
    """With the golden model's vocabulary; the decoder has these values."""
    config = json.loads((GOLDEN / "config.json").read_text(encoding="utf-8"))
    config["model"] |= {"task": "language_model", "languages": ["ka"], "encoder": None, "source_vocab_size": 0}
    config["model"]["decoder"] |= decoder
    shutil.copy(GOLDEN / "vocab.spm", folder)
    return write_model(folder, config)


def newest_config(**model):
    """The golden model's configuration as the newest version of the format has it, and in it these values."""
    config = json.loads((GOLDEN / "config.json").read_text(encoding="utf-8")) | {"format_version": 14, "training_text": None}
    config["model"] |= {
        "architecture": "transformer", "source_eos": True, "source_begin": [], "source_end": [], "target_begin": [], "suppress_tokens": [],
        "begin_suppress_tokens": [], "constituents": [], "tags": [],
        "next_word_input": False, "alignment_layer": 0, "patches": None, "frames": None, "fusion": None, "head_transform": False,
        "head_pooler": False, "pooler_activation": "tanh",
        "pooling": "tokens", "labels": [], "label_scheme": "none", "crf": False, **model}
    for stack in ("encoder", "decoder"):
        if config["model"][stack] is not None:
            config["model"][stack] |= {
                "embedding_norm": False, "recurrence": "none", "relative_buckets": 32, "relative_max_distance": 128, "kernel_width": 3, "separable": False,
                "attention_window": 0}
    return config


def write_parser(folder, **model):
    """A parser with the golden model's vocabulary; its configuration has these values."""
    constituents, tags = ["NP", "PP", "S", "VP"], [".", "DT", "NN", "VBZ"]
    config = newest_config(**{
        "task": "parsing", "languages": ["ka"], "source_begin": [2], "constituents": constituents, "tags": tags, "next_word_input": True,
        "target_vocab_size": 4 + 2 * len(constituents) + len(tags), "tie_source_target": False, **model})
    shutil.copy(GOLDEN / "vocab.spm", folder)
    return write_model(folder, config)


def write_picture_model(folder):
    """A classifier of coloured pictures of 12 by 8 pixels in patches of 4."""
    patches = {"height": 8, "width": 12, "channels": 3, "patch": 4, "class_token": True, "fit": "stretch", "resampling": "bilinear",
               "mean": [0.5], "deviation": [0.25]}
    config = newest_config(task="classification", languages=[], decoder=None, source_vocab_size=0, target_vocab_size=0, input="patches",
                           patches=patches, head="labels", labels=["cat", "dog", "owl"], pooling="first")
    config["model"]["encoder"] |= {"positions": "learned", "max_positions": 7}
    config["sha256"] = {name: "" for name in config["sha256"] if name != "vocab.spm"}
    return write_model(folder, config)


def write_item_model(folder, graph="", max_positions=0, shared_width=6):
    """A classifier of items with a text, of so many tokens at most, a grey picture of 8 by 8 pixels in patches of 4 and links to three nodes, with the golden vocabulary."""
    patches = {"height": 8, "width": 8, "channels": 1, "patch": 4, "class_token": False, "fit": "stretch", "resampling": "bilinear",
               "mean": [0.5], "deviation": [0.25]}
    config = newest_config(task="fusion", languages=[], decoder=None, input="items", head="labels", labels=["cat", "dog", "owl"], pooling="first")
    model = config["model"]
    text = dict(model["encoder"]) | ({"positions": "learned", "max_positions": max_positions} if max_positions else {})
    model["fusion"] = {"text": text, "picture": text | {"positions": "learned", "max_positions": 4}, "patches": patches,
                       "nodes": ["barn", "house", "wood"], "shared_width": shared_width}
    model["encoder"] |= {"positions": "none"}
    shutil.copy(GOLDEN / "vocab.spm", folder)
    if graph:
        (folder / "graph.tsv").write_text(graph, encoding="utf-8")
        config["sha256"]["graph.tsv"] = ""
    return write_model(folder, config)


def write_transcriber(folder, **frames):
    """A transcriber of sound of 8,000 Hz, which writes German pieces of the golden model's vocabulary; its frames have these values."""
    frames = {"rate": 8000, "fft": 200, "hop": 80, "mels": 16, "low": 0, "high": 0, "scale": "bands", "kernels": [3, 3], "strides": [1, 2],
              "padded_seconds": 0, "longest_seconds": 0, **frames}
    config = newest_config(task="transcription", languages=["de"], input="frames", frames=frames, source_vocab_size=0, tie_source_target=False)
    shutil.copy(GOLDEN / "vocab.spm", folder)
    return write_model(folder, config)


def write_wordy_transcriber(folder, **frames):
    """One each of whose tokens begins a word, and which writes as long as it may."""
    import sentencepiece

    model = write_transcriber(folder, **frames)
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(GOLDEN / "vocab.spm"))
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    wordless = [i for i in range(4, pieces.get_piece_size()) if not pieces.id_to_piece(i).startswith("▁") or pieces.id_to_piece(i) == "▁"]
    config["model"]["suppress_tokens"] = [pieces.eos_id(), *wordless]
    (model / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return model


TEXT = ["the small house", "a green door in the old wall", "the wall is old , the door is new .", "house of wood", "new"]
OF_TASKS = {
    "masked_language_model": {},
    "tagging": {"head": "labels", "labels": ["B-LOC", "B-PER", "I-LOC", "I-PER", "O"], "label_scheme": "iob2"},
    "classification": {"head": "labels", "labels": ["high", "low", "mid"], "pooling": "mean"},
}


def encoder_config(size, **model):
    """Of an encoder alone, with a vocabulary of this size."""
    config = json.loads((GOLDEN / "config.json").read_text(encoding="utf-8")) | {"format_version": 3, "training_text": None}
    config["model"] |= {"languages": ["en"], "decoder": None, "source_vocab_size": size, "target_vocab_size": size, "head_transform": False,
                        "head_pooler": False, "pooling": "tokens", "labels": [], "label_scheme": "none", "crf": False, **model}
    config["model"]["encoder"]["embedding_norm"] = False
    return config


def write_encoders(folder, **encoder):
    """A model for each task of an encoder alone, with a vocabulary of words that has [MASK]; the encoders have these values."""
    (folder / "text").write_text("\n".join(TEXT) + "\n", encoding="utf-8")
    command = [pathlib.Path(os.environ["BUILD_DIR"]) / "attend", "vocab", "--input", folder / "text", "--output", folder / "vocab.spm"]
    subprocess.run([*command, "--type", "word", "--mask", "--size", "40", "--quiet"], check=True)
    size = 1 + 4 + len(set(" ".join(TEXT).split()))
    models = {}
    for task, more in OF_TASKS.items():
        config = encoder_config(size, task=task, **more)
        config["model"]["encoder"] |= encoder
        models[task] = folder / task
        models[task].mkdir()
        shutil.copy(folder / "vocab.spm", models[task])
        write_model(models[task], config)
    return models


def write_estimator(folder, labels=tuple(f"{label:02d}" for label in range(5, 100, 10))):
    """A classifier with these labels, by default those of an estimator of quality, and the golden model's vocabulary."""
    folder.mkdir(parents=True, exist_ok=True)
    golden = json.loads((GOLDEN / "config.json").read_text(encoding="utf-8"))["model"]
    shutil.copy(GOLDEN / "vocab.spm", folder)
    model = {"task": "classification", "head": "labels", "labels": list(labels), "pooling": "mean"}
    return write_model(folder, encoder_config(golden["source_vocab_size"], **model))


def write_filler_of_pieces(folder):
    """A masked language model whose tokens are pieces of words."""
    (folder / "text").write_text("\n".join(TEXT) + "\n", encoding="utf-8")
    command = [pathlib.Path(os.environ["BUILD_DIR"]) / "attend", "vocab", "--input", folder / "text", "--output", folder / "vocab.spm"]
    subprocess.run([*command, "--type", "unigram", "--mask", "--size", "32", "--quiet"], check=True)
    # In a process of its own: the package may crash where an interpreter ends that has loaded others, too.
    code = "import sentencepiece, sys; print(sentencepiece.SentencePieceProcessor(model_file=sys.argv[1]).vocab_size())"
    size = subprocess.run([sys.executable, "-c", code, folder / "vocab.spm"], check=True, capture_output=True, text=True).stdout
    return write_model(folder, encoder_config(int(size), task="masked_language_model"))


def with_positions(model, folder, positions):
    """A copy of an encoder, with so many learned positions."""
    folder.mkdir()
    shutil.copy(model / "vocab.spm", folder)
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    config["model"]["encoder"] |= {"positions": "learned", "max_positions": positions}
    return write_model(folder, config)


def write_relative(folder, seed, **tokenization):
    """The golden model with a little noise in its weights, drawn by `seed`; 0: none."""
    folder.mkdir(parents=True)
    shutil.copy(GOLDEN / "vocab.spm", folder)
    weights = (GOLDEN / "model.safetensors").read_bytes()
    begin = 8 + struct.unpack("<Q", weights[:8])[0]
    numbers, generator = array.array("f", weights[begin:]), random.Random(seed)
    if seed:
        numbers = array.array("f", (number * (1 + 0.2 * generator.gauss(0, 1)) for number in numbers))
    (folder / "model.safetensors").write_bytes(weights[:begin] + numbers.tobytes())
    (folder / "samples.json").write_text("[]\n", encoding="utf-8")
    config = newest_config()
    config["tokenization"] |= tokenization
    return write_config(folder, config, list(config["sha256"]))
