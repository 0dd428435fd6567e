"""attend.convert of OpenNMT-py's checkpoints and of eole's folders: files of their layouts, against their forward pass, written out below
in PyTorch."""

import argparse
import json
import math
import random
import re

import attend
import numpy as np
import pytest
from package import import_here

attend.convert = pytest.importorskip("attend.convert")
torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")
from torch.nn import functional  # noqa: E402

WORDS = "lumi tavo keri so￭ na mi￭ pa rudu vesta olin pa￭ ku neri dosa ilvo Ähre".split()
OTHERS = [*WORDS[::-1], "extra", "averyunlikelytoken0"]
SPECIAL = ["<unk>", "<blank>", "<s>", "</s>"]
UNK, PAD, BOS, EOS = range(4)
WIDTH, INNER, HEADS, LAYERS = 32, 48, 4, {"encoder": 2, "decoder": 3}
# What the two toolkits call the parts of a layer.
OPENNMT = {
    "encoder": "encoder.transformer", "decoder": "decoder.transformer_layers", "self": "layer_norm_1", "context": "layer_norm_2",
    "feed": "feed_forward.layer_norm", "inner": "feed_forward.w_1", "outer": "feed_forward.w_2", "up": "feed_forward.w_3"}
EOLE = {
    "encoder": "encoder.transformer_layers", "decoder": "decoder.transformer_layers", "self": "input_layernorm",
    "context": "precontext_layernorm", "feed": "post_attention_layernorm", "inner": "mlp.gate_up_proj", "outer": "mlp.down_proj",
    "up": "mlp.up_proj"}
ACTIVATIONS = {
    "relu": functional.relu, "gelu": functional.gelu, "silu": functional.silu,
    "gelu-tanh": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))}
# Activation, whether it gates, biases, ties, positions, epsilon; the settings that say so.
USUAL = {
    "activation": "relu", "gated": False, "biases": (), "source_target": False, "target_output": False, "positions": "interleaved",
    "epsilon": 1e-6, "post": False, "offset": 0, "scale": False}
ALL_BIASES = ("linear_query", "linear_keys", "linear_values", "final_linear", "inner", "outer")
CASES = {
    "opennmt": ("opennmt", {"biases": ("inner", "outer")}, {"add_ffnbias": True}),
    "opennmt-tied": (
        "opennmt", {"activation": "gelu", "biases": ALL_BIASES, "source_target": True, "target_output": True},
        {"pos_ffn_activation_fn": "gelu", "add_qkvbias": True, "add_ffnbias": True, "share_embeddings": True,
         "share_decoder_embeddings": True}),
    "opennmt-gated": (
        "opennmt", {"activation": "silu", "gated": True, "target_output": True, "positions": "concat", "epsilon": 1e-3},
        {"pos_ffn_activation_fn": "silu", "share_decoder_embeddings": True, "position_encoding_type": "SinusoidalConcat",
         "norm_eps": 1e-3}),
    "opennmt-without": ("opennmt", {"positions": "none"}, {"position_encoding": False}),
    "eole": ("eole", {"epsilon": 1e-5}, {}),
    "eole-tied": (
        "eole", {"activation": "gelu", "biases": ALL_BIASES, "source_target": True, "target_output": True, "epsilon": 1e-3},
        {"mlp_activation_fn": "gelu", "add_qkvbias": True, "add_final_linear_bias": True, "add_ffnbias": True, "share_embeddings": True,
         "share_decoder_embeddings": True, "norm_eps": 1e-3}),
    "eole-learned": (
        "eole", {"activation": "gelu-tanh", "gated": True, "biases": ("linear_query", "linear_values"), "epsilon": 1e-5,
                 "positions": "learned", "offset": 2, "scale": True},
        {"mlp_activation_fn": "gated-gelu-tanh", "add_qkvbias": True, "add_key_bias": False, "add_final_linear_bias": False,
         "embeddings": {"position_encoding_type": "Learned", "n_positions": 40, "position_shift": 2, "normalize": True}}),
    "eole-post": (
        "eole", {"post": True, "epsilon": 1e-5, "positions": "concat"},
        {"encoder": {"encoder_layer_style": "postnorm", "final_encoder_layer_norm": False},
         "embeddings": {"position_encoding_type": "SinusoidalConcat"}}),
}


def embedding(toolkit, side):
    if toolkit == "opennmt":
        return f"{side}.embeddings.make_embedding.emb_luts.0.weight"
    return {"encoder": "src_emb", "decoder": "tgt_emb"}[side] + ".embeddings.weight"


def part_name(toolkit, form, side, part):
    if toolkit == "opennmt":
        return "layer_norm" if (side, part) == ("encoder", "self") else OPENNMT[part]
    post = {"self": "attention_layer_norm", "feed": "output_layer_norm"} if form["post"] and side == "encoder" else {}
    return (EOLE | post)[part]


def weights_of(toolkit, form, sizes):
    torch.manual_seed(7)
    shapes, names = {}, OPENNMT if toolkit == "opennmt" else EOLE
    for side, size in zip(LAYERS, sizes):
        shapes[embedding(toolkit, side)] = (size, WIDTH)
        norms = [] if form["post"] and side == "encoder" else [f"{side}.layer_norm"]
        for layer in range(LAYERS[side]):
            name = f"{names[side]}.{layer}."
            kinds = ["self", "context"][: 2 if side == "decoder" else 1]
            norms += [name + part_name(toolkit, form, side, part) for part in [*kinds, "feed"]]
            matrices = {f"{kind}_attn.{part}": (part, (WIDTH, WIDTH)) for kind in kinds for part in ALL_BIASES[:4]}
            matrices |= {names["inner"]: ("inner", (INNER, WIDTH)), names["outer"]: ("outer", (WIDTH, INNER))}
            matrices |= {names["up"]: ("inner", (INNER, WIDTH))} if form["gated"] else {}
            for matrix, (part, shape) in matrices.items():
                shapes[f"{name}{matrix}.weight"] = shape
                shapes |= {f"{name}{matrix}.bias": shape[:1]} if part in form["biases"] else {}
        shapes |= {f"{norm}.{part}": (WIDTH,) for norm in norms for part in ("weight", "bias")}
    shapes |= {"generator.weight": (sizes[1], WIDTH), "generator.bias": (sizes[1],)}
    if form["positions"] == "learned":
        shapes |= {"src_emb.pe.weight": (40, WIDTH), "tgt_emb.pe.weight": (40, WIDTH)}
    weights = {name: torch.randn(shape) * 0.3 + (1 if "norm" in name and "weight" in name else 0) for name, shape in shapes.items()}
    weights["generator.bias"][EOS] = 3  # so that outputs end
    if form["source_target"]:
        weights[embedding(toolkit, "decoder")] = weights[embedding(toolkit, "encoder")]
    if form["target_output"]:
        weights["generator.weight"] = weights[embedding(toolkit, "decoder")]
    return weights


def sinusoids(kind, rows):
    """[T, D], of positions from 0."""
    if kind == "interleaved":
        angles = torch.arange(rows).unsqueeze(1) * torch.exp(torch.arange(0, WIDTH, 2) * -(math.log(10000) / WIDTH))
        return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)
    angles = torch.arange(rows).unsqueeze(1) * torch.exp(torch.arange(WIDTH // 2) * -(math.log(10000) / (WIDTH // 2 - 1)))
    return torch.cat([angles.sin(), angles.cos()], 1)


def write_opennmt(folder, settings, form, weights, tokens):
    folder.mkdir()
    options = {
        "model_task": "seq2seq", "model_type": "text", "encoder_type": "transformer", "decoder_type": "transformer", "enc_layers": 2,
        "dec_layers": 3, "heads": HEADS, "hidden_size": WIDTH, "transformer_ff": INNER, "position_encoding": True, "copy_attn": False,
        "self_attn_type": "scaled-dot-flash", "max_relative_positions": 0, "layer_norm": "standard", "lora_layers": [], "src_vocab": None,
        "dropout": [0.1], "attention_dropout": [0.1], "word_vec_size": WIDTH, "optim": "adam", "world_size": 1, "use_ckpting": [],
        "parallel_mode": "data_parallel", "freeze_word_vecs_enc": False, "freeze_word_vecs_dec": False}
    buffers = {} if form["positions"] == "none" else {
        f"{side}.embeddings.make_embedding.pe.pe": sinusoids(form["positions"], 5000).unsqueeze(1) for side in LAYERS}
    torch.save({
        "model": {name: value for name, value in weights.items() if "generator" not in name} | buffers,
        "generator": {name[10:]: value for name, value in weights.items() if "generator" in name},
        "vocab": {"src": tokens[0], "tgt": tokens[1], "data_task": "seq2seq", "decoder_start_token": "<s>"},
        "opt": argparse.Namespace(**(options | settings)), "optim": {"training_step": 5}}, folder / "model_step_5.pt")


def write_eole(folder, settings, form, weights, tokens):
    folder.mkdir()
    model = {
        "architecture": "transformer", "hidden_size": WIDTH, "layers": 2, "heads": HEADS, "transformer_ff": INNER, "sliding_window": 0,
        "embeddings": {}, "encoder": {"encoder_type": "transformer", "layers": 2},
        "decoder": {"decoder_type": "transformer", "layers": 3, "heads_kv": None}} | settings
    model["embeddings"] = {"word_vec_size": WIDTH} | model["embeddings"]
    (folder / "config.json").write_text(json.dumps(
        {"model": model, "training": {"batch_size": 4}, "transforms": [], "src_vocab": "a", "tgt_vocab": "b"}), encoding="utf-8")
    vocabulary = {"src": tokens[0], "tgt": tokens[1], "decoder_start_token": "<s>", "specials": {
        "bos_token": "<s>", "pad_token": "<blank>", "eos_token": "</s>", "unk_token": "<unk>"}}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    left_out = ["tgt_emb.embeddings.weight"] if form["source_target"] else []
    left_out += ["generator.weight"] if form["target_output"] else []
    kept = {name: value for name, value in weights.items() if name not in left_out}
    kept |= {f"decoder.transformer_layers.{layer}.layer_scalar": torch.ones(1) for layer in range(3)}
    if form["positions"] != "learned":
        kept |= {f"{side}_emb.pe.pe": sinusoids(form["positions"], 5000).unsqueeze(1) for side in ("src", "tgt")}
    half = len(kept) // 2
    for i, names in enumerate((list(kept)[:half], list(kept)[half:])):
        safetensors.save_file({name: kept[name].clone() for name in names}, folder / f"model.0{i}.safetensors")


class Peer:
    """The toolkits' Transformer in eval mode, for one sentence; the ids of the target begin with <s>."""

    def __init__(self, toolkit, form, weights):
        self.toolkit, self.form, self.weights = toolkit, form, weights
        self.names = OPENNMT if toolkit == "opennmt" else EOLE

    def linear(self, name, x):
        return functional.linear(x, self.weights[name + ".weight"], self.weights.get(name + ".bias"))

    def norm(self, name, x):
        return functional.layer_norm(x, (WIDTH,), self.weights[name + ".weight"], self.weights[name + ".bias"], self.form["epsilon"])

    def attention(self, name, x, memory, visible):
        query, key, value = (
            self.linear(f"{name}.linear_{part}", read).unflatten(-1, (HEADS, -1)).transpose(0, 1)
            for part, read in (("query", x), ("keys", memory), ("values", memory)))
        scores = query @ key.transpose(1, 2) / math.sqrt(WIDTH // HEADS)
        heads = scores.masked_fill(~visible, -math.inf).softmax(-1) @ value
        return self.linear(name + ".final_linear", heads.transpose(0, 1).flatten(1))

    def feed_forward(self, name, x):
        inner = ACTIVATIONS[self.form["activation"]](self.linear(f"{name}.{self.names['inner']}", x))
        inner = inner * self.linear(f"{name}.{self.names['up']}", x) if self.form["gated"] else inner
        return self.linear(f"{name}.{self.names['outer']}", inner)

    def embed(self, side, ids):
        x, rows = self.weights[embedding(self.toolkit, side)][ids], torch.arange(len(ids)) + self.form["offset"]
        if self.form["positions"] == "learned":
            x = x + self.weights[f"{'src' if side == 'encoder' else 'tgt'}_emb.pe.weight"][rows]
        elif self.form["positions"] != "none":
            x = x * math.sqrt(WIDTH) + sinusoids(self.form["positions"], len(ids))
        return x * math.sqrt(WIDTH) if self.form["scale"] else x

    def stack(self, side, ids, memory=None):
        x, post = self.embed(side, ids), self.form["post"] and side == "encoder"
        visible = torch.ones(len(ids), len(ids), dtype=torch.bool)
        visible = visible.tril() if side == "decoder" else visible
        for layer in range(LAYERS[side]):
            name = f"{self.names[side]}.{layer}"
            parts = {"self": lambda y, name=name: self.attention(name + ".self_attn", y, y, visible)}
            if memory is not None:
                parts["context"] = lambda y, name=name: self.attention(
                    name + ".context_attn", y, memory, torch.ones(1, 1, dtype=torch.bool))
            parts["feed"] = lambda y, name=name: self.feed_forward(name, y)
            for part, run in parts.items():
                norm = f"{name}.{part_name(self.toolkit, self.form, side, part)}"
                x = self.norm(norm, x + run(x)) if post else x + run(self.norm(norm, x))
        return x if post else self.norm(f"{side}.layer_norm", x)

    def log_probabilities(self, source, target):
        """[T, V], of what follows the ids up to each."""
        memory = self.stack("encoder", torch.tensor(source))
        return self.linear("generator", self.stack("decoder", torch.tensor(target), memory)).log_softmax(-1)

    def greedy(self, source, length):
        """Neither pad nor the start nor unknown words, and something before the end."""
        target = [BOS]
        while len(target) <= length and target[-1] != EOS:
            scores = self.log_probabilities(source, target)[-1]
            scores[[UNK, PAD, BOS] + ([EOS] if len(target) == 1 else [])] = -math.inf
            target.append(int(scores.argmax()))
        return target[1:]


def sentences(count, seed):
    numbers = random.Random(seed)
    return [" ".join(numbers.choice(WORDS) for _ in range(numbers.randint(1, 12))) for _ in range(count)]


def written(folder, case, **changes):
    """A model's folder, and its peer."""
    toolkit, form, settings = CASES[case]
    form = USUAL | form
    tokens = (SPECIAL + WORDS, SPECIAL + (WORDS if form["source_target"] else OTHERS))
    weights = weights_of(toolkit, form, [len(side) for side in tokens])
    (write_opennmt if toolkit == "opennmt" else write_eole)(folder, settings | changes, form, weights, tokens)
    return Peer(toolkit, form, weights)


@pytest.fixture(name="case", scope="module", params=CASES)
def converted_case(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("opennmt") / "model"
    peer = written(folder, request.param)
    converted = attend.convert.convert(folder, folder / "attend")
    assert [converted.model[side]["norm_epsilon"] for side in LAYERS] == [peer.form["epsilon"]] * 2  # some are too small to be seen
    return attend.Translator(folder / "attend", threads=1), peer


@torch.no_grad()
def test_log_probabilities_and_outputs_are_the_toolkits(case):
    translator, peer = case
    words, ended = WORDS if peer.form["source_target"] else OTHERS, 0
    for source, target in zip(sentences(12, 1), sentences(12, 2)):
        read, wrote = [4 + WORDS.index(word) for word in source.split()], [4 + words.index(word) for word in target.split()]
        assert translator.source_vocabulary.encode(source) == read and translator.target_vocabulary.decode(wrote) == target
        expected = peer.log_probabilities(read, [BOS, *wrote]).gather(1, torch.tensor([*wrote, EOS]).unsqueeze(1)).squeeze(1)
        np.testing.assert_allclose(translator.score([source], [target])[0].token_log_probabilities, expected, atol=1e-4)
        found = translator.translate([source], beam_size=1, length_penalty=0, max_length=20, split_sentences="never")[0].hypotheses[0]
        assert found.ids + [EOS] * found.finished == peer.greedy(read, 20)
        ended += found.finished
    assert ended


def test_weights_may_stand_in_a_file_beside(tmp_path):
    written(tmp_path / "model", "opennmt")
    state = torch.load(tmp_path / "model/model_step_5.pt", weights_only=False)
    tensors = state.pop("model") | {"generator." + name: value for name, value in state.pop("generator").items()}
    (tmp_path / "other").mkdir()
    torch.save(state, tmp_path / "other/model_step_5.pt")
    with pytest.raises(attend.InputError, match=re.escape("it holds no 'model', expected that, or 'model_step_5.safetensors' beside it")):
        attend.convert.convert(tmp_path / "other", tmp_path / "out")
    safetensors.save_file(tensors, tmp_path / "other/model_step_5.safetensors")
    found = [attend.convert.recognise(tmp_path / name).convert(tmp_path / name) for name in ("model", "other")]
    assert found[0].tensors.keys() == found[1].tensors.keys()
    assert all(np.array_equal(value, found[1].tensors[name]) for name, value in found[0].tensors.items())


@pytest.mark.parametrize(("case", "change", "part"), [
    ("opennmt", {"decoder_type": "transformer_lm"}, 'decoder_type is "transformer_lm", which attend lacks; expected "transformer"'),
    ("opennmt", {"max_relative_positions": 20}, "max_relative_positions is 20, which attend lacks; expected 0"),
    ("opennmt", {"layer_norm": "rms"}, 'layer_norm is "rms", which attend lacks'),
    ("opennmt", {"self_attn_type": "average"}, 'self_attn_type is "average", which attend lacks'),
    ("opennmt", {"pos_ffn_activation_fn": "gated-gelu"}, 'pos_ffn_activation_fn is "gated-gelu", which attend lacks'),
    ("opennmt", {"pos_ffn_activation_fn": "silu"}, "tensor 'encoder.transformer.0.feed_forward.w_3.weight' is missing"),
    ("opennmt", {"share_decoder_embeddings": True}, "tensor 'generator.weight' is not the one that it is tied to"),
    ("opennmt", {"heads": "4"}, 'heads is "4", expected int'),
    ("opennmt", {"position_encoding_type": "SinusoidalConcat"},
     "tensor 'encoder.embeddings.make_embedding.pe.pe' does not hold the sinusoids that the settings name"),
    ("eole", {"architecture": "transformer_lm"}, 'architecture is "transformer_lm", which attend lacks'),
    ("eole", {"layer_norm": "rms"}, 'layer_norm is "rms", which attend lacks'),
    ("eole", {"heads_kv": 2}, "heads_kv is 2, which attend lacks; expected 4"),
    ("eole", {"encoder": 3}, "model.encoder is 3, expected an object"),
    ("eole", {"encoder": {"encoder_layer_style": "postnorm"}}, "final_encoder_layer_norm is true, which attend lacks; expected false"),
    ("eole", {"embeddings": {"position_encoding_type": "Rotary"}}, 'position_encoding_type is "Rotary", which attend lacks'),
    ("eole", {"embeddings": {"position_encoding_type": "Learned"}}, "tensor 'src_emb.pe.weight' is missing"),
    ("eole", {"embeddings": {"position_encoding_type": ["Learned"]}}, 'position_encoding_type is ["Learned"], which attend lacks'),
])
def test_what_attend_lacks_is_named(tmp_path, case, change, part):
    written(tmp_path / "model", case, **change)
    with pytest.raises(attend.InputError, match=re.escape(part)):
        attend.convert.convert(tmp_path / "model", tmp_path / "out")
    assert not (tmp_path / "out").exists()


class Field:
    """As torchtext's, in files of OpenNMT-py 2."""


@pytest.mark.parametrize(("change", "part"), [
    ({"vocab": {"src": Field()}}, f"it holds {__name__}.Field, but only tensors and plain values are read; convert a model of"),
    ({"vocab": {"src": ["a"], "tgt": "b"}}, "expected a list of tokens as 'tgt' of the vocabulary"),
    ({"vocab": {"src": SPECIAL, "tgt": SPECIAL[:3]}}, 'the target\'s vocabulary lacks "</s>", its token for eos'),
    ({"vocab": {"src": SPECIAL, "tgt": SPECIAL[::-1]}}, "<blank> has id 1 in the source's vocabulary and 2 in the target's"),
    ({"vocab": {"src": SPECIAL, "tgt": SPECIAL, "src_feats": [["a"]]}}, 'src_feats is [["a"]], which attend lacks'),
    ({"opt": None}, "expected options as 'opt'"),
    ({"model": {"x": torch.ones(1)}}, "tensor 'encoder.embeddings.make_embedding.emb_luts.0.weight' is missing"),
    ({"model": {"encoder.embeddings.make_embedding.emb_luts.0.weight": torch.ones(3)}}, "has 1 dimensions, expected 2"),
    ({"generator": 3}, "expected a dictionary of tensors of real numbers"),
])
def test_bad_checkpoints_are_refused(tmp_path, change, part):
    written(tmp_path / "model", "opennmt")
    path = tmp_path / "model/model_step_5.pt"
    torch.save(torch.load(path, weights_only=False) | change | {"name": "decoder_start_token"}, path)
    with pytest.raises(attend.InputError, match=re.escape(part)):
        attend.convert.convert(path, tmp_path / "out")


def test_damaged_files_are_refused(tmp_path):
    written(tmp_path / "a", "opennmt")
    path = tmp_path / "a/model_step_5.pt"
    path.write_bytes(path.read_bytes()[:-100])
    written(tmp_path / "b", "eole")
    shard = tmp_path / "b/model.01.safetensors"
    for folder, change, part in (
        (tmp_path / "a", lambda: None, "not a whole file of torch.save"),
        (tmp_path / "b", lambda: shard.write_bytes(shard.read_bytes()[:-100]), "model.01.safetensors: not a whole safetensors file"),
        (tmp_path / "b", shard.unlink, "is missing"),
        (tmp_path / "b", (tmp_path / "b/model.00.safetensors").unlink, "has no weights, expected model.00.safetensors"),
        (tmp_path / "b", lambda: (tmp_path / "b/vocab.json").write_text("[]"), "vocab.json: expected a JSON object")):
        change()
        with pytest.raises(attend.InputError, match=part):
            attend.convert.convert(folder, tmp_path / "out")


def test_sentencepiece_models_are_found(tmp_path):
    sentencepiece = pytest.importorskip("sentencepiece")
    for side, lines in (("en", sentences(300, 4)), ("de", [line[::-1] for line in sentences(300, 5)])):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_prefix=str(tmp_path / side), vocab_size=50, hard_vocab_limit=False, minloglevel=2)
    cutters = [sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / f"{side}.model")) for side in ("en", "de")]
    tokens = [SPECIAL + [cutter.id_to_piece(i) for i in range(3, cutter.get_piece_size())][::-1] for cutter in cutters]
    form = USUAL | {"epsilon": 1e-5}
    write_eole(tmp_path / "model", {}, form, weights_of("eole", form, [len(side) for side in tokens]), tokens)
    with pytest.raises(attend.InputError, match="its tokens are SentencePiece's, but"):
        attend.convert.convert(tmp_path / "model", tmp_path / "out")
    for side in ("en", "de"):
        (tmp_path / f"model/{side}.model").write_bytes((tmp_path / f"{side}.model").read_bytes())
    with pytest.raises(attend.InputError, match="has de.model, en.model, expected one SentencePiece model"):
        attend.convert.convert(tmp_path / "model", tmp_path / "out")
    config = json.loads((tmp_path / "model/config.json").read_text(encoding="utf-8"))
    names = {"src_subword_model": "${MODEL_PATH}/en.model", "tgt_subword_model": "${MODEL_PATH}/de.model"}
    config["transforms_configs"] = {"sentencepiece": names}
    (tmp_path / "model/config.json").write_text(json.dumps(config), encoding="utf-8")
    attend.convert.convert(tmp_path / "model", tmp_path / "out")
    translator = attend.Translator(tmp_path / "out")
    for line in sentences(10, 6):
        assert translator.source_vocabulary.encode(line) == [tokens[0].index(piece) for piece in cutters[0].encode(line, out_type=str)]


@pytest.mark.parametrize(("case", "package"), [("opennmt", "onmt"), ("eole", "eole")])
def test_the_command_says_what_it_found(tmp_path, capsys, case, package):
    written(tmp_path / "model", case)
    assert import_here(tmp_path / "model", tmp_path / "out") == 0
    found, wrote, named = capsys.readouterr().out.splitlines()
    assert {"onmt": "OpenNMT-py", "eole": "eole"}[package] in found and "2 + 3 layers, 32 wide, 22 tokens" in wrote
    assert named.startswith("named no languages")
    pytest.importorskip(package)
    assert import_here(tmp_path / "model", tmp_path / "verified", verify=True) == 0
    assert "samples agree within" in capsys.readouterr().out
