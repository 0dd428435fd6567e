"""attend.convert of Marian's .npz files against Marian's arithmetic in NumPy (its validation's cross-entropies are the same)."""

import itertools
import re
import struct
import zipfile

import attend
import numpy as np
import pytest

attend.convert = pytest.importorskip("attend.convert")
sentencepiece = pytest.importorskip("sentencepiece")
yaml = pytest.importorskip("yaml")
from attend.convert import _marian  # noqa: E402

D, HEADS, F, LAYERS = 16, 2, 24, 2
SOURCES = ["lumi tavo keri", "sona", "mipa rudu vesta olin paku neri dosa", ""]
TARGETS = ["vesta olin", "dosa neri paku sona mipa", "tavo", "lumi lumi lumi keri"]
PRE = {"transformer-preprocess": "n", "transformer-postprocess": "da", "transformer-postprocess-top": "n"}
VARIANTS = {
    "plain": {},
    "pre": PRE | {"transformer-ffn-activation": "relu"},
    "ssru": {"transformer-decoder-autoreg": "rnn", "dec-cell": "ssru"},
    "ssru_pre": PRE | {"transformer-decoder-autoreg": "rnn", "dec-cell": "ssru", "transformer-decoder-dim-ffn": 20},
    "learned": {"Wpos": True, "transformer-train-position-embeddings": True},
    "no_positions": {"transformer-disable-position-embeddings": True, "transformer-no-bias": True},
    "embedding_norm": {"transformer-postprocess-emb": "nd"},
    "untied": {"tied-embeddings-all": False},
    "tied_output": {"tied-embeddings-all": False, "tied-embeddings": True},
    "tied_sources": {"tied-embeddings-all": False, "tied-embeddings-src": True},
}


class Oracle:
    """A model of Marian with random weights under its names, in f64."""

    def __init__(self, options, size):
        self.options, self.weights, self.numbers = options, {}, np.random.default_rng(5)
        self.pre, self.ssru = options.get("transformer-preprocess") == "n", options.get("transformer-decoder-autoreg") == "rnn"
        self.size = size

    def __getitem__(self, name):
        return self.weights[name].astype(np.float64)

    def get(self, name, *shape):
        """The tensor, made where it is asked for first."""
        if name not in self.weights:
            noise = self.numbers.normal(size=shape) * (0.5 / np.sqrt(shape[0]) if shape[0] > 1 else 0.3)
            self.weights[name] = (noise + (1 if "_ln_scale" in name else 0)).astype(np.float32)
        return self.weights[name].astype(np.float64)

    def affine(self, x, name, columns, kind=""):
        return x @ self.get(f"{name}_W{kind}", x.shape[1], columns) + self.get(f"{name}_b{kind}", 1, columns)

    def norm(self, x, name, suffix=""):
        centred = x - x.mean(1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-6)
        return scaled * self.get(f"{name}_ln_scale{suffix}", 1, D) + self.get(f"{name}_ln_bias{suffix}", 1, D)

    def sublayer(self, x, name, function):
        if self.pre:
            return x + function(self.norm(x, name, "_pre"))
        return self.norm(x + function(x), name)

    def attention(self, name, x, memory=None):
        def attend_to(y):
            keys = y if memory is None else memory
            q, k, v = self.affine(y, name, D, "q"), self.affine(keys, name, D, "k"), self.affine(keys, name, D, "v")
            mixed = []
            for h in range(HEADS):
                part = slice(h * D // HEADS, (h + 1) * D // HEADS)
                scores = q[:, part] @ k[:, part].T / np.sqrt(D / HEADS)
                if name.startswith("decoder") and memory is None:
                    scores = np.where(np.tril(np.ones(scores.shape)) > 0, scores, -np.inf)
                odds = np.exp(scores - scores.max(1, keepdims=True))
                mixed.append(odds / odds.sum(1, keepdims=True) @ v[:, part])
            return self.affine(np.concatenate(mixed, 1), name, D, "o")

        return self.sublayer(x, name + "_Wo", attend_to)

    def recurrence(self, name, x):
        def recur(y):
            inputs, forget = y @ self.get(f"{name}_W", D, D), 1 / (1 + np.exp(-self.affine(y, name, D, "f")))
            cell, cells = np.zeros(D), []
            for kept, new in zip(forget, inputs):
                cell = kept * cell + (1 - kept) * new
                cells.append(cell)
            return np.maximum(np.array(cells), 0)

        return self.sublayer(x, name + ("" if self.pre else "_ffn"), recur)

    def feed_forward(self, name, x):
        width = self.options.get("transformer-decoder-dim-ffn", F) if name.startswith("decoder") else F

        def apply(y):
            inner = self.affine(y, name, width, "1")
            relu = self.options.get("transformer-ffn-activation") == "relu"
            return self.affine(np.maximum(inner, 0) if relu else inner / (1 + np.exp(-inner)), name, D, "2")

        return self.sublayer(x, name + "_ffn", apply)

    def table(self, side):
        shared = self.options.get("tied-embeddings-all", True) or self.options.get("tied-embeddings-src")
        return self.get("Wemb" if shared else f"{side}_Wemb", self.size, D)

    def embed(self, side, rows):
        if self.options.get("Wpos"):
            x = rows + self.get("Wpos", 30, D)[: len(rows)]
        elif self.options.get("transformer-disable-position-embeddings"):
            x = rows
        else:
            angles = np.arange(len(rows))[:, None] * 10000.0 ** (-np.arange(D // 2) / (D / 2 - 1))
            x = rows * np.sqrt(D) + np.concatenate([np.sin(angles), np.cos(angles)], 1)
        return self.norm(x, f"{side}_emb", "_pre") if "n" in self.options.get("transformer-postprocess-emb", "d") else x

    def log_probabilities(self, source, target):
        x = self.embed("encoder", self.table("encoder")[source])
        for layer in range(1, LAYERS + 1):
            x = self.feed_forward(f"encoder_l{layer}_ffn", self.attention(f"encoder_l{layer}_self", x))
        memory = self.norm(x, "encoder_top") if self.pre else x
        x = self.embed("decoder", np.concatenate([np.zeros((1, D)), self.table("decoder")[target[:-1]]]))
        for layer in range(1, LAYERS + 1):
            name = f"decoder_l{layer}"
            x = self.recurrence(f"{name}_rnn", x) if self.ssru else self.attention(f"{name}_self", x)
            x = self.feed_forward(f"{name}_ffn", self.attention(f"{name}_context", x, memory))
        x = self.norm(x, "decoder_top") if self.pre else x
        logits = x @ self.output().T
        if not self.options.get("transformer-no-bias"):
            logits += self.get("decoder_ff_logit_out_b", 1, self.size)
        logits -= logits.max(1, keepdims=True)
        return logits - np.log(np.exp(logits).sum(1, keepdims=True))

    def output(self):
        tied = self.options.get("tied-embeddings-all", True) or self.options.get("tied-embeddings")
        return self.table("decoder") if tied else self.get("decoder_ff_logit_out_W", D, self.size).T

    def greedy(self, source, longest):
        """Of text that is not empty attend gives none that is."""
        target = []
        while len(target) < longest and (not target or target[-1] != 0):
            scores = self.log_probabilities(source, [*target, 0])[-1]
            target.append(int(scores[1:].argmax()) + 1 if not target else int(scores.argmax()))
        return target


def train_pieces(folder):
    text = folder / "text"
    text.write_text("\n".join(" ".join(words) for words in itertools.permutations(" ".join(SOURCES).split(), 2)), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "vocab"), vocab_size=60, hard_vocab_limit=False, bos_id=-1, eos_id=0, unk_id=1, minloglevel=2)
    (folder / "vocab.model").rename(folder / "vocab.spm")
    return sentencepiece.SentencePieceProcessor(model_file=str(folder / "vocab.spm"))


def save(oracle, path, **changes):
    options = {
        "type": "transformer", "enc-depth": LAYERS, "dec-depth": LAYERS, "dim-emb": D, "transformer-heads": HEADS, "transformer-dim-ffn": F,
        "transformer-postprocess": "dan", **oracle.options, **changes}
    text = yaml.safe_dump(options).encode() + b"\0"
    np.savez(path, **oracle.weights, **{"special:model.yml": np.frombuffer(text, np.int8)})


def made(folder, options):
    """An oracle whose tensors are all there, saved with its vocabulary, and the tokens of texts."""
    pieces = train_pieces(folder)
    oracle = Oracle(options, pieces.get_piece_size())
    oracle.log_probabilities([0], [0])
    save(oracle, folder / "model.npz")
    return oracle, lambda text: [*pieces.encode(text), 0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_log_probabilities_and_outputs_are_the_oracles(variant, tmp_path):
    oracle, tokens = made(tmp_path, VARIANTS[variant])
    attend.convert.convert(tmp_path / "model.npz", tmp_path / "model")
    translator = attend.Translator(tmp_path / "model")
    for source, target, score in zip(SOURCES, TARGETS, translator.score(SOURCES, TARGETS)):
        wanted = tokens(target)
        expected = oracle.log_probabilities(tokens(source), wanted)[range(len(wanted)), wanted]
        np.testing.assert_allclose(score.token_log_probabilities, expected, atol=2e-5)
    for source in SOURCES[:3]:
        ids = tokens(source)
        wanted = oracle.greedy(ids, 12)
        found = translator.translate([source], beam_size=1, length_penalty=0, split_sentences="never", max_length=12)[0].hypotheses[0]
        assert [*found.ids, 0][: len(wanted)] == wanted if found.finished else found.ids == wanted[: len(found.ids)]


def test_vocabularies_of_words(tmp_path):
    """As marian-vocab writes them: a model whose text has its tokens between spaces."""
    oracle, _ = made(tmp_path, {})
    (tmp_path / "vocab.spm").unlink()
    words = ["</s>", "<unk>", "no", "true", "it's", *(f"w{i}" for i in range(oracle.size))]
    (tmp_path / "words.yml").write_text("".join(f'"{word}": {i}\n' for i, word in enumerate(words)), encoding="utf-8")
    (tmp_path / "model.npz.yml").write_text("vocabs:\n  - /elsewhere/words.yml\n  - words.yml\n", encoding="utf-8")
    attend.convert.convert(tmp_path / "model.npz", tmp_path / "model")
    translator = attend.Translator(tmp_path / "model")
    ids = [2, 7, 1, 4, 3]
    text = "no w2 unknown it's true"
    assert translator.source_vocabulary.encode(text) == ids
    assert translator.source_vocabulary.decode([2, 7, 4]) == "no w2 it's"
    wanted = [9, 2, 0]
    (score,) = translator.score([text], ["w4 no"])
    expected = oracle.log_probabilities([*ids, 0], wanted)[range(3), wanted]
    np.testing.assert_allclose(score.token_log_probabilities, expected, atol=2e-5)
    for content, part in (("a: 0\nb: 0\n", "each once"), ("- a\n", "gives each token an id"), ("</s>: 0\n<unk>: 1\n", "2 tokens, expected")):
        (tmp_path / "words.yml").write_text(content, encoding="utf-8")
        with pytest.raises(attend.InputError, match=part):
            attend.convert.convert(tmp_path / "model.npz", tmp_path / "out")


@pytest.mark.parametrize(("change", "part"), [
    ({"transformer-ffn-activation": "gelu"}, 'transformer-ffn-activation is "gelu", which attend lacks; expected one of swish, relu'),
    ({"transformer-decoder-autoreg": "average-attention"}, 'transformer-decoder-autoreg is "average-attention"'),
    ({"transformer-decoder-autoreg": "rnn", "dec-cell": "gru"}, 'dec-cell is "gru"'),
    ({"transformer-preprocess": "n"}, "transformer-preprocess, transformer-postprocess, transformer-postprocess-top are 'n', 'dan', ''"),
    ({"transformer-attention-mask": "alibi"}, 'transformer-attention-mask is "alibi"'),
    ({"transformer-ffn-depth": 3}, "transformer-ffn-depth is 3"),
    ({"enc-depth": 3}, "tensor 'encoder_l3_self_Wq' is missing"),
    ({"dec-depth": 1}, "is one that attend lacks a place for"),
    ({"transformer-heads": "two"}, "transformer-heads is \"two\", expected int"),
])
def test_what_attend_lacks_is_named(tmp_path, change, part):
    oracle, _ = made(tmp_path, {})
    save(oracle, tmp_path / "model.npz", **change)
    with pytest.raises(attend.InputError, match=re.escape(part)):
        attend.convert.convert(tmp_path / "model.npz", tmp_path / "out")




def bin_file(path, tensors):
    """Of names with (type, shape, bytes), as Marian's converter lays them out."""
    names = [name.encode() + b"\0" for name in tensors]
    content = struct.pack("<QQ", 1, len(tensors))
    content += b"".join(struct.pack("<4Q", len(name), type, len(shape), len(data)) for name, (type, shape, data) in zip(names, tensors.values()))
    content += b"".join(names) + b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, shape, _ in tensors.values())
    path.write_bytes(content + struct.pack("<Q", 0) + b"".join(data for *_, data in tensors.values()))
    return path


def quantized(value, transposed):
    factor = np.float32(127 / np.abs(value).max())
    integers = np.round((value.T if transposed else value) * factor).astype(np.int8)
    return 0x4101, value.shape, integers.tobytes() + struct.pack("<f", factor)


def test_integers_are_transposed_by_name(tmp_path):
    """Whatever the shape: an embedding of few words, and a layer that is wide inside."""
    numbers = np.random.default_rng(2)
    shapes = {"Wemb": (29, 16), "encoder_Wemb": (900, 16), "encoder_l1_ffn_W2": (200, 16), "encoder_l1_self_Wq": (16, 16)}
    given = {name: numbers.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    path = bin_file(tmp_path / "model.bin", {name: quantized(value, "Wemb" not in name) for name, value in given.items()})
    found = _marian._Binary(path).read()
    for name, value in given.items():
        np.testing.assert_allclose(found[name], value, atol=np.abs(value).max() / 250)


@pytest.mark.parametrize(("tensor", "part"), [
    ((0x4101, (256,), b"\1" * 260), "shape \\[256\\] and 260 bytes, expected f32, or intgemm8 of 2 dimensions"),
    ((0x4101, (-16, -16), b"\1" * 260), "shape \\[-16, -16\\]"), ((0x404, (-16, -16), b"\0" * 1024), "shape \\[-16, -16\\]"),
    ((0x404, (2**31 - 1,) * 3, b""), "with all its bytes"), ((0x4101, (16, 16), bytes(260)), "was multiplied by 0.0"),
    ((0x402, (16, 16), bytes(512)), "type 0x402"),
])
def test_bad_tensors_of_binary_files_are_named(tensor, part, tmp_path):
    with pytest.raises(attend.InputError, match=f"tensor 'Wq'.*{part}"):
        _marian._Binary(bin_file(tmp_path / "model.bin", {"Wq": tensor})).read()


@pytest.mark.parametrize(("name", "value", "part"), [
    ("Wemb", np.float32(1), "tensor 'Wemb' has 0 dimensions, expected 2"), ("Wpos", np.float32(1), "tensor 'Wpos' has 0 dimensions"),
    ("Wemb", np.array(["a"]), "tensor 'Wemb' is of <U1, expected floats"),
    ("encoder_l1_self_Wq", np.ones((D, D), complex), "tensor 'encoder_l1_self_Wq' is of complex128"),
    ("encoder_l1_self_Wq", np.full((D, D), np.nan, np.float32), "tensor 'encoder_l1_self_Wq' has numbers that are none"),
])
def test_odd_tensors_are_named(name, value, part, tmp_path):
    oracle, _ = made(tmp_path, {})
    oracle.weights[name] = value
    save(oracle, tmp_path / "model.npz")
    with pytest.raises(attend.InputError, match=part):
        attend.convert.convert(tmp_path / "model.npz", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("text", "part"), [
    (b"skip: 2020-01-01", "skip is .*2020, 1, 1"), (b"dim-emb: 2020-13-45", "its options are no YAML: "), (b"[" * 20000, "its options are no YAML: "),
    (b"- a", "no YAML mapping"), (b'type: !!python/object/apply:os.system ["id"]', "its options are no YAML: could not determine"),
])
def test_odd_options_are_refused(text, part, tmp_path):
    oracle, _ = made(tmp_path, {})
    np.savez(tmp_path / "model.npz", **oracle.weights, **{"special:model.yml": np.frombuffer(text, np.int8)})
    with pytest.raises(attend.InputError, match=part):
        attend.convert.convert(tmp_path / "model.npz", tmp_path / "out")


def test_files_beside_a_model_do_no_harm(tmp_path):
    """Vocabularies of other models, folders with names of files."""
    made(tmp_path, {})
    for name, content in (("a.yml", b"- x"), ("b.yml", b"</s>: 0\n<<: 1\n"), ("c.yml", b"\xff\xfe"), ("d.yml", b"=: 5\n")):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "x.bin").mkdir()
    (tmp_path / "y.npz").mkdir()
    attend.convert.convert(tmp_path, tmp_path / "out")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_is_found_however_it_was_packed(method, tmp_path):
    made(tmp_path, {})
    with zipfile.ZipFile(tmp_path / "model.npz") as whole, zipfile.ZipFile(tmp_path / "damaged.npz", "w", method) as damaged:
        for name in whole.namelist():
            damaged.writestr(name, whole.read(name))
    content = bytearray((tmp_path / "damaged.npz").read_bytes())
    content[200:400] = np.random.default_rng(3).bytes(200)
    (tmp_path / "damaged.npz").write_bytes(content)
    with pytest.raises(attend.InputError, match="not a whole .npz file"):
        attend.convert.convert(tmp_path / "damaged.npz", tmp_path / "out")
