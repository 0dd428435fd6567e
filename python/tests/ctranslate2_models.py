"""CTranslate2's models with random weights, by its own specifications, and its files in each layout, written once more."""

import struct

import numpy as np
from ctranslate2.specs import common_spec, model_spec, transformer_spec

RELU, GELU_TANH, SWISH, GELU = (common_spec.Activation(number) for number in range(4))
WORDS = "lumi tavo keri sona mipa rudu vesta olin paku neri dosa ilvo brant grau@@ holm ￭. Ähre <0x41> \\ naïve".split()
OPENNMT_SOURCE = ["<blank>", "<s>", "</s>", *WORDS, "<unk>"]
OPENNMT_TARGET = ["<unk>", "<s>", "</s>", *sorted(WORDS), "only", "here"]
SHARED = ["<s>", "<pad>", "</s>", "<unk>", *WORDS]
WIDTH, INNER = 32, 48


def sinusoids(convention, offset, rows=512):
    """docs/model_file.md, written once more."""
    table = np.zeros((rows, WIDTH))
    for k in range(WIDTH // 2):
        angles = (np.arange(rows) + offset) * 10000 ** (-k / (WIDTH // 2 - (convention == "timing_signal")))
        first, second = (2 * k, 2 * k + 1) if convention == "interleaved" else (k, k + WIDTH // 2)
        table[:, first], table[:, second] = np.sin(angles), np.cos(angles)
    return table.astype(np.float32)


def shape_of(name, sizes):
    scope = name.split("/")
    if "gamma" in name or "beta" in name:
        return (WIDTH,)
    if scope[1].startswith(("embeddings", "projection")):
        return (sizes[scope[0]], WIDTH)
    if scope[-3] == "ffn":
        return (WIDTH, INNER) if scope[-2] == "linear_1" else (INNER, WIDTH)
    stacked = {"self_attention": (3, 1), "attention": (1, 2, 1)}[scope[-3]][int(scope[-2][-1])]
    return (stacked * WIDTH, WIDTH)


def fill(spec, sizes, bias=True):
    """Random weights wherever the specification has a place for them; outputs end sooner or later."""
    numbers = np.random.default_rng(1)

    def visit(layer, name, value):
        key = name.rsplit("/", 1)[-1]
        if key == "bias" and (bias or "projection" in name):
            setattr(layer, key, numbers.normal(size=shape_of(name, sizes)[0]).astype(np.float32) * 0.2)
        elif value is None:
            scale = 0.6 if "/attention/" in name else 0.4 if "embeddings" in name else 0.3 if "projection" in name else 0.2
            setattr(layer, key, (numbers.normal(size=shape_of(name, sizes)) * scale + (key == "gamma")).astype(np.float32))

    model_spec.visit_spec(spec, visit)


def translation_model(options, source, target, tables=(None, None), bias=True):
    spec = transformer_spec.TransformerSpec.from_config((2, 2), 4, **options)
    fill(spec, {"encoder": len(source), "decoder": len(target)}, bias)
    for stack, table in zip((spec.encoder, spec.decoder), tables):
        if table is not None:
            stack.position_encodings.encodings = table
    spec.decoder.projection.bias[[target.index(token) for token in ("<unk>", "<s>")]] = -30  # which attend never writes
    spec.decoder.projection.bias[target.index("</s>")] = 2
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.config.add_source_eos = True
    return spec


def opennmt():
    """Norms first, CTranslate2's own sinusoids, and special tokens that have other ids in the source."""
    return translation_model({}, OPENNMT_SOURCE, OPENNMT_TARGET)


def fairseq():
    """One table of embeddings, outputs that start from eos, the factor of embeddings as a number."""
    table = sinusoids("timing_signal", 2)
    spec = translation_model({"pre_norm": False, "activation": GELU}, SHARED, SHARED, (table, table))
    spec.decoder.embeddings.weight = spec.decoder.projection.weight = spec.encoder.embeddings[0].weight
    spec.encoder.scale_embeddings = spec.decoder.scale_embeddings = float(np.sqrt(WIDTH))
    spec.config.decoder_start_token = "</s>"
    return spec


def marian():
    table = sinusoids("halves", 0)
    spec = translation_model({"pre_norm": False, "activation": SWISH, "layernorm_embedding": True}, SHARED, SHARED, (table, table))
    spec.decoder.start_from_zero_embedding = True
    spec.decoder.projection.bias[2] = 4
    return spec


def learned():
    numbers = np.random.default_rng(2)
    tables = [(numbers.normal(size=(rows, WIDTH)) * 0.3).astype(np.float32) for rows in (60, 70)]
    spec = translation_model({"activation": GELU_TANH, "ffn_glu": True}, SHARED, SHARED, tables)
    spec.encoder.scale_embeddings = spec.decoder.scale_embeddings = False
    spec.config.layer_norm_epsilon = 1e-3
    return spec


def without_bias():
    tables = sinusoids("interleaved", 0), np.zeros((512, WIDTH), np.float32)
    return translation_model({"activation": SWISH, "ffn_glu": True}, SHARED, SHARED, tables, bias=False)


def language_model():
    spec = transformer_spec.TransformerDecoderModelSpec.from_config(2, 4, activation=GELU_TANH)
    fill(spec, {"decoder": len(SHARED)})
    spec.decoder.position_encodings.encodings = sinusoids("interleaved", 1)
    spec.decoder.projection.bias[[SHARED.index("<s>"), SHARED.index("<unk>")]] = -30
    spec.register_vocabulary(SHARED)
    return spec


def save(spec, folder, quantization=None):
    folder.mkdir(parents=True)
    spec.validate()
    spec.optimize(quantization)
    spec.save(str(folder))
    return folder


def text(content):
    return struct.pack("<H", len(content.encode()) + 1) + content.encode() + b"\0"


def variable(name, value, version):
    code = {"float32": 0, "int8": 1, "int16": 2, "int32": 3, "float16": 4}[value.dtype.name] if version >= 4 else value.itemsize
    sizes = struct.pack(f"<B{value.ndim}I", value.ndim, *value.shape)
    return text(name) + sizes + struct.pack("<BI", code, value.nbytes if version >= 4 else value.size) + value.tobytes()


def write_file(path, version, values, specification="TransformerSpec", revision=7, aliases=()):
    content = struct.pack("<I", version) + text(specification) + struct.pack("<II", revision, len(values))
    content += b"".join(variable(name, np.asarray(value), version) for name, value in values.items())
    if version >= 3:
        content += struct.pack("<I", len(aliases)) + b"".join(text(one) + text(other) for one, other in aliases)
    path.write_bytes(content)


def values_of(spec, quantization=None):
    """The variables that a file has, and its aliases."""
    spec.validate()
    spec.optimize(quantization)
    values = spec.variables()
    aliases = [(name, value) for name, value in values.items() if isinstance(value, str)]
    return {name: value.numpy() for name, value in values.items() if not isinstance(value, str)}, aliases
