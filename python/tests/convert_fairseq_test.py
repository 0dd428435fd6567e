"""attend.convert of fairseq's checkpoints: files of its layout, against its forward pass, written out below in PyTorch."""

import argparse
import math
import random
import re

import attend
import numpy as np
import pytest
from package import import_here

attend.convert = pytest.importorskip("attend.convert")
torch = pytest.importorskip("torch")
from torch.nn import functional  # noqa: E402

WORDS = "lumi tavo keri so@@ na mi@@ pa rudu vesta olin pa@@ ku neri dosa ilvo Ähre".split()
OTHERS = [*WORDS[::-1], "extra", "zwei", "madeupword0000", "madeupword0001"]
WIDTH, INNER, HEADS, LAYERS, LONGEST = 32, 48, 4, {"encoder": 2, "decoder": 3}, 40
PAD, EOS, UNK = 1, 2, 3
CASES = {
    "post": {},
    "shared": {"share_all_embeddings": True, "activation_fn": "gelu"},
    "pre": {"encoder_normalize_before": True, "decoder_normalize_before": True, "share_decoder_input_output_embed": True},
    "learned": {
        "encoder_learned_pos": True, "decoder_learned_pos": True, "layernorm_embedding": True, "no_scale_embedding": True,
        "activation_fn": "gelu_accurate"},
    "mixed": {"encoder_normalize_before": True, "decoder_learned_pos": True},
    "without": {"no_token_positional_embeddings": True},
}
ACTIVATIONS = {
    "relu": functional.relu, "gelu": functional.gelu,
    "gelu_accurate": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))}


def options_of(**changes):
    stacks = {}
    for side, layers in LAYERS.items():
        stacks |= {
            f"{side}_embed_dim": WIDTH, f"{side}_ffn_embed_dim": INNER, f"{side}_layers": layers, f"{side}_attention_heads": HEADS,
            f"{side}_normalize_before": False, f"{side}_learned_pos": False, f"{side}_layers_to_keep": None}
    return stacks | {
        "arch": "transformer", "task": "translation", "source_lang": "en", "target_lang": "de", "activation_fn": "relu", "dropout": 0.3,
        "share_all_embeddings": False, "share_decoder_input_output_embed": False, "adaptive_softmax_cutoff": None,
        "decoder_input_dim": WIDTH, "decoder_output_dim": WIDTH, "layernorm_embedding": False, "no_scale_embedding": False,
        "no_token_positional_embeddings": False} | changes


def shapes_of(options, sizes):
    """Of the checkpoint's tensors."""
    shapes = {"decoder.output_projection.weight": (sizes[1], WIDTH)}
    for side, size in zip(LAYERS, sizes):
        shapes |= {f"{side}.version": (1,), f"{side}.embed_tokens.weight": (size, WIDTH)}
        shapes |= {f"{side}.embed_positions.weight": (LONGEST + 2, WIDTH)} if options[f"{side}_learned_pos"] else {
            f"{side}.embed_positions._float_tensor": (1,)}
        norms = ["layernorm_embedding"] if options["layernorm_embedding"] else []
        norms += ["layer_norm"] if options[f"{side}_normalize_before"] else []
        for layer in range(LAYERS[side]):
            name = f"layers.{layer}."
            for attention in ["self_attn", "encoder_attn"][: 2 if side == "decoder" else 1]:
                norms.append(f"{name}{attention}_layer_norm")
                for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    shapes |= {f"{side}.{name}{attention}.{part}.weight": (WIDTH, WIDTH), f"{side}.{name}{attention}.{part}.bias": (WIDTH,)}
            norms.append(name + "final_layer_norm")
            shapes |= {f"{side}.{name}fc1.weight": (INNER, WIDTH), f"{side}.{name}fc1.bias": (INNER,)}
            shapes |= {f"{side}.{name}fc2.weight": (WIDTH, INNER), f"{side}.{name}fc2.bias": (WIDTH,)}
            if side == "encoder":  # as 0.12 has them, beside the weights that count
                shapes |= {f"{side}.{name}in_proj_weight": (3 * WIDTH, WIDTH), f"{side}.{name}fc1_bias": (INNER,)}
        shapes |= {f"{side}.{norm}.{part}": (WIDTH,) for norm in norms for part in ("weight", "bias")}
    return shapes


def weights_of(options, sizes):
    torch.manual_seed(5)
    weights = {
        name: torch.randn(shape) * 0.3 + (1 if name.endswith("norm.weight") else 0) for name, shape in shapes_of(options, sizes).items()}
    for side in LAYERS:
        weights[f"{side}.version"] = torch.tensor([3.0])
    if options["share_all_embeddings"]:
        weights["decoder.embed_tokens.weight"] = weights["encoder.embed_tokens.weight"]
    if options["share_all_embeddings"] or options["share_decoder_input_output_embed"]:
        weights["decoder.output_projection.weight"] = weights["decoder.embed_tokens.weight"]
    last = "layer_norm" if options["decoder_normalize_before"] else f"layers.{LAYERS['decoder'] - 1}.final_layer_norm"
    likelier = 3 if options["share_all_embeddings"] else 1.5
    weights["decoder.output_projection.weight"][EOS] += likelier * weights[f"decoder.{last}.bias"]  # so that some outputs end
    return weights


def write(folder, options, weights, words=(WORDS, OTHERS)):
    folder.mkdir()
    for side, tokens in zip(("source", "target"), words):
        lines = [f"{token} {100 - i}\n" for i, token in enumerate(tokens)]
        (folder / f"dict.{options[side + '_lang']}.txt").write_text("".join(lines), encoding="utf-8")
    save(folder / "checkpoint_best.pt", args=argparse.Namespace(**options), model=weights)
    return folder


def save(path, **parts):
    torch.save(parts | {"extra_state": {"epoch": 3, "best": 1.5}, "last_optimizer_state": {"state": {0: torch.ones(3)}}}, path)


class Peer:
    """fairseq's TransformerModel in eval mode, for one sentence; the ids of the target begin with </s>."""

    def __init__(self, options, weights):
        self.options, self.weights = options, weights

    def affine(self, function, name, x, *shape):
        return function(x, *shape, self.weights[name + ".weight"], self.weights[name + ".bias"])

    def norm(self, name, x):
        return functional.layer_norm(x, (WIDTH,), self.weights[name + ".weight"], self.weights[name + ".bias"], 1e-5)

    def attention(self, name, x, memory, visible):
        query, key, value = (
            self.affine(functional.linear, f"{name}.{part}_proj", read).unflatten(-1, (HEADS, -1)).transpose(0, 1)
            for part, read in (("q", x), ("k", memory), ("v", memory)))
        scores = query @ key.transpose(1, 2) / math.sqrt(WIDTH // HEADS)
        heads = scores.masked_fill(~visible, -math.inf).softmax(-1) @ value
        return self.affine(functional.linear, name + ".out_proj", heads.transpose(0, 1).flatten(1))

    def embed(self, side, ids):
        x = self.weights[f"{side}.embed_tokens.weight"][ids] * (1 if self.options["no_scale_embedding"] else math.sqrt(WIDTH))
        rows = torch.arange(len(ids)) + PAD + 1
        if self.options[f"{side}_learned_pos"]:
            x = x + self.weights[f"{side}.embed_positions.weight"][rows]
        elif not self.options["no_token_positional_embeddings"]:
            steps = torch.exp(torch.arange(WIDTH // 2) * -(math.log(10000) / (WIDTH // 2 - 1)))
            angles = rows.unsqueeze(1) * steps
            x = x + torch.cat([angles.sin(), angles.cos()], 1)
        return self.norm(f"{side}.layernorm_embedding", x) if self.options["layernorm_embedding"] else x

    def stack(self, side, ids, memory=None):
        x, pre = self.embed(side, ids), self.options[f"{side}_normalize_before"]
        visible = torch.ones(len(ids), len(ids), dtype=torch.bool)
        visible = visible.tril() if side == "decoder" else visible
        for layer in range(LAYERS[side]):
            name = f"{side}.layers.{layer}"

            def feed_forward(y, name=name):
                inner = ACTIVATIONS[self.options["activation_fn"]](self.affine(functional.linear, name + ".fc1", y))
                return self.affine(functional.linear, name + ".fc2", inner)

            parts = [("self_attn_layer_norm", lambda y, name=name: self.attention(name + ".self_attn", y, y, visible))]
            if memory is not None:
                parts.append(("encoder_attn_layer_norm", lambda y, name=name: self.attention(
                    name + ".encoder_attn", y, memory, torch.ones(1, 1, dtype=torch.bool))))
            for norm, part in [*parts, ("final_layer_norm", feed_forward)]:
                x = x + part(self.norm(f"{name}.{norm}", x)) if pre else self.norm(f"{name}.{norm}", x + part(x))
        return self.norm(f"{side}.layer_norm", x) if pre else x

    def log_probabilities(self, source, target):
        """[T, V], of what follows the ids up to each."""
        memory = self.stack("encoder", torch.tensor([*source, EOS]))
        return (self.stack("decoder", torch.tensor(target), memory) @ self.weights["decoder.output_projection.weight"].T).log_softmax(-1)

    def greedy(self, source, length):
        """Neither pad nor unknown words, and something before the end."""
        target = [EOS]
        while len(target) <= length and (target[-1] != EOS or len(target) == 1):
            scores = self.log_probabilities(source, target)[-1]
            scores[[PAD, UNK] + ([EOS] if len(target) == 1 else [])] = -math.inf
            target.append(int(scores.argmax()))
        return target[1:]


def sentences(count, seed):
    numbers = random.Random(seed)
    return [" ".join(numbers.choice(WORDS) for _ in range(numbers.randint(1, 12))) for _ in range(count)]


@pytest.fixture(name="case", scope="module", params=CASES)
def converted_case(request, tmp_path_factory):
    options = options_of(**CASES[request.param])
    words = (WORDS, WORDS if options["share_all_embeddings"] else OTHERS)
    weights = weights_of(options, [4 + len(tokens) for tokens in words])
    folder = write(tmp_path_factory.mktemp("fairseq") / "model", options, weights, words)
    converted = attend.convert.convert(folder, folder / "attend")
    assert [converted.model[side]["norm_epsilon"] for side in LAYERS] == [1e-5, 1e-5]  # too small to be seen in the tests
    return attend.Translator(folder / "attend", threads=1), Peer(options, weights), words


@torch.no_grad()
def test_log_probabilities_and_outputs_are_fairseqs(case):
    translator, peer, (words, others) = case
    ended = 0
    for source, target in zip(sentences(12, 1), sentences(12, 2)):
        read, wrote = [4 + words.index(word) for word in source.split()], [4 + others.index(word) for word in target.split()]
        assert translator.source_vocabulary.encode(source) == read and translator.target_vocabulary.decode(wrote) == target
        expected = peer.log_probabilities(read, [EOS, *wrote]).gather(1, torch.tensor([*wrote, EOS]).unsqueeze(1)).squeeze(1)
        np.testing.assert_allclose(translator.score([source], [target])[0].token_log_probabilities, expected, atol=1e-4)
        found = translator.translate([source], beam_size=1, length_penalty=0, max_length=20, split_sentences="never")[0].hypotheses[0]
        assert found.ids + [EOS] * found.finished == peer.greedy(read, 20)
        ended += found.finished
    assert ended


def test_unknown_words_and_special_tokens(case):
    vocabulary = case[0].source_vocabulary
    assert vocabulary.encode("lumi ??? </s> <pad> keri") == [4, UNK, UNK, UNK, 6]
    assert vocabulary.bos == vocabulary.eos == EOS and vocabulary.decode([4, 1, 2, 6]) == "lumi keri"


@pytest.fixture(name="parts", scope="module")
def plain_parts(tmp_path_factory):
    """Options, weights, a folder with the dictionaries, and the model that attend makes of them."""
    options = options_of()
    weights = weights_of(options, [4 + len(WORDS), 4 + len(OTHERS)])
    folder = write(tmp_path_factory.mktemp("parts") / "model", options, weights)
    attend.convert.convert(folder, folder / "attend")
    return options, weights, folder


def convert_variant(parts, output, **saved):
    """The same dictionaries with another checkpoint."""
    for name in ("dict.en.txt", "dict.de.txt"):
        (output.parent / name).write_bytes((parts[2] / name).read_bytes())
    if saved:
        save(output.parent / "variant.pt", **saved)
    return attend.convert.convert(output.parent / "variant.pt", output)


def nested(options):
    """As a configuration by Hydra."""
    values = {side: {key.removeprefix(side + "_"): options[key] for key in options if key.startswith(side + "_")} for side in LAYERS}
    values |= {key: options[key] for key in options if not key.startswith(tuple(LAYERS))}
    languages = {key: values.pop(key) for key in ("source_lang", "target_lang")}
    return {"model": values | {"_name": values.pop("arch")}, "task": languages | {"_name": values.pop("task")}}


def test_settings_may_stand_in_three_places(parts, tmp_path):
    options, weights, folder = parts
    name = argparse.Namespace(**options, _name="transformer")
    for i, cfg in enumerate(({"model": name, "task": name}, {"model": name, "task": vars(name)}, nested(options))):
        (tmp_path / str(i)).mkdir()
        convert_variant(parts, tmp_path / str(i) / "attend", args=None, cfg=cfg, model=weights)
        for file in ("model.safetensors", "source.spm", "target.spm", "samples.json"):
            assert (tmp_path / str(i) / "attend" / file).read_bytes() == (folder / "attend" / file).read_bytes()


def old_names(weights):
    """As the first versions had them."""
    old = {}
    for name, value in weights.items():
        if match := re.fullmatch(r"(.*attn)\.q_proj\.(weight|bias)", name):
            rows = [weights[f"{match[1]}.{part}_proj.{match[2]}"] for part in "qkv"]
            old[f"{match[1]}.in_proj_{match[2]}"] = torch.cat(rows)
        elif match := re.fullmatch(r"(.*layers\.\d+)\.(\w+)_layer_norm\.(weight|bias)", name):
            norms = ["self_attn", "final"] if name.startswith("encoder") else ["self_attn", "encoder_attn", "final"]
            old[f"{match[1]}.layer_norms.{norms.index(match[2])}.{match[3]}"] = value
        elif not re.search(r"[kv]_proj|version|layers\.\d+\.\w+_(weight|bias)", name):
            old["decoder.embed_out" if name == "decoder.output_projection.weight" else name] = value
    return old


def test_old_files_give_the_same_model(parts, tmp_path):
    options, weights, folder = parts
    state = {"args": argparse.Namespace(**options), "model": {name: value.double() for name, value in old_names(weights).items()}}
    torch.save(state, tmp_path / "variant.pt", _use_new_zipfile_serialization=False)
    convert_variant(parts, tmp_path / "attend")
    assert (tmp_path / "attend/model.safetensors").read_bytes() == (folder / "attend/model.safetensors").read_bytes()


@pytest.mark.parametrize(("change", "part"), [
    ({"arch": "transformer_lm"}, 'arch is "transformer_lm", which attend lacks'),
    ({"task": "translation_multi_simple_epoch"}, 'task is "translation_multi_simple_epoch", which attend lacks'),
    ({"activation_fn": ["relu"]}, 'activation_fn is ["relu"], which attend lacks'),
    ({"adaptive_softmax_cutoff": "100,200"}, 'adaptive_softmax_cutoff is "100,200", which attend lacks'),
    ({"cross_self_attention": True}, "cross_self_attention is true, which attend lacks"),
    ({"decoder_output_dim": 16}, "decoder_output_dim is 16, which attend lacks; expected 32"),
    ({"decoder_layers": 4}, "tensor 'decoder.layers.3.self_attn.q_proj.weight' is missing"),
    ({"encoder_layers": 1}, "is one that attend lacks a place for"),
    ({"encoder_layers": True}, "encoder_layers is true, expected int"),
    ({"decoder_normalize_before": True}, "tensor 'decoder.layer_norm.weight' is missing"),
    ({"share_all_embeddings": True}, "tensor 'decoder.embed_tokens.weight' is not the one that it is tied to"),
    ({"target_lang": "fr"}, "can't read '{folder}/dict.fr.txt': No such file or directory; expected it beside the checkpoint"),
    ({"source_lang": "../en"}, "source_lang and target_lang are"),
])
def test_what_attend_lacks_is_named(parts, tmp_path, change, part):
    with pytest.raises(attend.InputError, match=re.escape(part.format(folder=tmp_path))):
        convert_variant(parts, tmp_path / "attend", args=argparse.Namespace(**(parts[0] | change)), model=parts[1])
    assert not (tmp_path / "attend").exists()


def test_norms_after_the_stack_are_not_made_up(parts, tmp_path):
    options = options_of(**CASES["pre"])
    weights = weights_of(options, [4 + len(WORDS), 4 + len(OTHERS)])
    weights["decoder.version"] = torch.tensor([2.0])
    with pytest.raises(attend.InputError, match="decoder.version is below 3"):
        convert_variant(parts, tmp_path / "attend", args=argparse.Namespace(**options), model=weights)


class Foreign:
    pass


@pytest.mark.parametrize(("saved", "part"), [
    ({"args": Foreign(), "model": {}}, f"it holds {__name__}.Foreign, but only tensors and plain values are read"),
    ({"args": None, "model": {}}, "expected settings as 'args'"),
    ({"args": None, "cfg": {"model": 3}, "model": {}}, "expected settings as 'args'"),
    ({"args": argparse.Namespace(**options_of()), "model": [1]}, "expected a dictionary of tensors of real numbers"),
    ({"args": argparse.Namespace(**options_of()), "model": {"x": 1}}, "expected a dictionary of tensors of real numbers"),
    ({"args": argparse.Namespace(**options_of()), "model": {"encoder.embed_tokens.weight": torch.ones(3)}}, "has 1 dimensions, expected 2"),
    ({"args": argparse.Namespace(**options_of()), "model": {"x": torch.eye(3).to_sparse()}}, "none of numbers in memory"),
])
def test_hostile_checkpoints_are_refused(parts, tmp_path, saved, part):
    with pytest.raises(attend.InputError, match=re.escape(part)):
        convert_variant(parts, tmp_path / "attend", **saved, name="encoder.embed_tokens.weight")


def test_damaged_files_are_refused(parts, tmp_path):
    whole = (parts[2] / "checkpoint_best.pt").read_bytes()
    for content in (whole[:-100], whole[: len(whole) // 2]):
        (tmp_path / "variant.pt").write_bytes(content)
        with pytest.raises(attend.InputError, match="not a whole file of torch.save"):
            convert_variant(parts, tmp_path / "attend")
    (tmp_path / "variant.pt").write_bytes(whole[:20])
    with pytest.raises(attend.InputError, match="no model that can be imported"):
        convert_variant(parts, tmp_path / "attend")
    for name in ("variant.pt", "checkpoint_last.pt"):
        (tmp_path / name).write_bytes(whole)
    with pytest.raises(attend.InputError, match=re.escape("has 2 models (checkpoint_last.pt, variant.pt); name one of the files")):
        attend.convert.convert(tmp_path, tmp_path / "attend")


@pytest.mark.parametrize(("content", "part"), [
    (b"lumi 3\n", "5 tokens with <s>, <pad>, </s> and <unk>, expected 20"),
    (b"lumi\n", "dict.en.txt:1: 'lumi' is not a token and a count"),
    (b"lumi 3\n<pad> 1 #fairseq:overwrite\n", "dict.en.txt:2: '<pad> 1 #fairseq:overwrite' is not a token"),
    (b"lumi 3\n" * 16, '"lumi" stands twice, expected each token once'),
    (b"\xff 3\n", "not UTF-8"),
    ("".join(f"▁{word} 3\n" for word in WORDS).encode(), "its tokens are SentencePiece's, but"),
])
def test_bad_dictionaries_are_refused(parts, tmp_path, content, part):
    folder = write(tmp_path / "model", *parts[:2])
    (folder / "dict.en.txt").write_bytes(content)
    with pytest.raises(attend.InputError, match=re.escape(part)):
        attend.convert.convert(folder, tmp_path / "attend")


def test_a_sentencepiece_model_cuts_text(parts, tmp_path):
    sentencepiece = pytest.importorskip("sentencepiece")
    text = [line.replace("@@", "") for line in sentences(300, 4)]
    for prefix, lines in (("spm", text), ("other", [line.upper().replace("A", "Q") for line in text])):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_prefix=str(tmp_path / prefix), vocab_size=60, hard_vocab_limit=False, minloglevel=2)
    cutter = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "spm.model"))
    pieces = [cutter.id_to_piece(i) for i in range(3, cutter.get_piece_size())]
    random.Random(3).shuffle(pieces)
    pieces = pieces[2:]  # which fairseq's dictionary lacks
    options = options_of(source_lang="xx", target_lang="yy")
    folder = write(tmp_path / "model", options, weights_of(options, [4 + len(pieces)] * 2), [pieces, pieces])
    (folder / "other.model").write_bytes((tmp_path / "other.model").read_bytes())
    with pytest.raises(attend.InputError, match=r"other.model: it has \d+ of the \d+ tokens of 'dict.xx.txt'"):
        attend.convert.convert(folder, folder / "attend")
    (folder / "sentencepiece.bpe.model").write_bytes((tmp_path / "spm.model").read_bytes())
    attend.convert.convert(folder, folder / "attend")
    vocabulary = attend.Translator(folder / "attend").source_vocabulary
    for line in text[:20]:
        expected = [4 + pieces.index(piece) if piece in pieces else UNK for piece in cutter.encode(line, out_type=str)]
        assert vocabulary.encode(line) == expected
        assert UNK in expected or vocabulary.decode(expected) == line


def test_the_command_says_what_it_found(parts, tmp_path, capsys):
    assert import_here(parts[2], tmp_path / "model") == 0
    found, wrote = capsys.readouterr().out.splitlines()
    assert "a Transformer of fairseq" in found and "2 + 3 layers, 32 wide, 24 tokens" in wrote


def test_verify_asks_fairseq(parts, tmp_path, capsys):
    pytest.importorskip("fairseq")
    assert import_here(parts[2], tmp_path / "model", verify=True) == 0
    assert "samples agree within" in capsys.readouterr().out
