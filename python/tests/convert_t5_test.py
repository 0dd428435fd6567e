"""attend.convert of T5 and mT5 against transformers: tokens, ids of greedy and beam search, log-probabilities; and training that goes on."""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess

import attend
import numpy as np
import pytest
import tiny_run
import title_model

attend.convert = pytest.importorskip("attend.convert")
sentencepiece = pytest.importorskip("sentencepiece")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WORDS = "lumi tavo keri sona mipa rudu vesta olin paku neri dosa ilvo brant grau holm jarn kvist myrr noord prax Ähre æon naïve".split()
SENTINELS, UNUSED = 5, 7
# The first T5: relu, one matrix for all; flan-T5: a gate, an output layer of its own, heads that are narrower than the model; mT5.
SHAPES = {
    "t5": {"feed_forward_proj": "relu", "d_kv": 8, "num_heads": 4},
    "flan": {"feed_forward_proj": "gated-gelu", "d_kv": 6, "num_heads": 3, "num_decoder_layers": 3, "tie_word_embeddings": False},
    "mt5": {"feed_forward_proj": "gated-silu", "d_kv": 16, "num_heads": 2},
}
FORBIDDEN = [[0], [2]]  # pad and unk, which attend never writes


def sentences(count, seed):
    numbers = random.Random(seed)
    return [" ".join(numbers.choice(WORDS) for _ in range(numbers.randint(1, 12))) + numbers.choice(["", ".", " 12!"]) for _ in range(count)]


TEXTS = [*sentences(24, 9), " ".join(sentences(12, 3)), "unknown ☃ ending", "  two  spaces ", "12 3.5", "fill <extra_id_0> in<extra_id_1>."]
ODD = [
    "", " ", "tab\there", "a\u00a0b\u3000c", "😀 emoji 👩‍👩‍👧", "<extra_id_0>", " <extra_id_4><extra_id_3>  a", "x</s>y <pad> <unk>", "<extra_id_5> is none",
    "ﬁ ligature ½ ①", "e\u0301 a\u0308", "\u200bzero\u200dwidth", "日本語 テキスト", "☃☃ ☃", "a\x01b\x7f"]


def write_tokenizer(folder):
    """A SentencePiece model as T5's and what tells its sentinels; gives the number of tokens."""
    text = folder.parent / "text"
    text.write_text("\n".join(sentences(400, 1)) + "\n", encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "spiece"), vocab_size=90, hard_vocab_limit=False, pad_id=0, eos_id=1, unk_id=2, bos_id=-1,
        minloglevel=2)
    (folder / "spiece.vocab").unlink()
    settings = {"tokenizer_class": "T5Tokenizer", "extra_ids": SENTINELS}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return sentencepiece.SentencePieceProcessor(model_file=str(folder / "spiece.model")).get_piece_size() + SENTINELS


def random_weights(model):
    """Random ones; those of eos are large, so that outputs end."""
    torch.manual_seed(3)
    with torch.no_grad():
        for name, value in model.named_parameters():
            scale = 1 if name == "shared.weight" or "relative" in name else 0.15 if re.search(r"\.[qk]\.weight", name) else 0.3
            value.copy_(torch.randn_like(value) * scale + (1 if "norm.weight" in name else 0))
        model.lm_head.weight[1] *= 2.5
    return model


@pytest.fixture(name="source", scope="module", params=SHAPES)
def t5_model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("t5") / request.param
    folder.mkdir()
    size = write_tokenizer(folder) + UNUSED
    kinds = {"mt5": (transformers.MT5Config, transformers.MT5ForConditionalGeneration)}
    config, kind = kinds.get(request.param, (transformers.T5Config, transformers.T5ForConditionalGeneration))
    model = kind(config(
        vocab_size=size, d_model=32, d_ff=48, num_layers=2, relative_attention_num_buckets=12, relative_attention_max_distance=30,
        decoder_start_token_id=0, **SHAPES[request.param])).eval()
    if request.param != "t5":
        model.lm_head.weight = torch.nn.Parameter(torch.empty_like(model.lm_head.weight))
    random_weights(model).save_pretrained(folder)
    if request.param == "flan":  # with the other file of a tokenizer, and settings as Google's
        transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
        (folder / "spiece.model").unlink()
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        del config["scale_decoder_outputs"]
        (folder / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": False}), encoding="utf-8")
    return folder


def test_tokens_are_transformers(model, peer):
    vocabulary = attend.Translator(model).source_vocabulary
    assert len(vocabulary) == peer[0].config.vocab_size and vocabulary.piece(len(vocabulary) - 1) == f"<unused_{UNUSED - 1}>"
    for text in [*TEXTS, *ODD]:
        ids = vocabulary.encode(text) + [1]
        assert ids == peer[1](text)["input_ids"], text
    ids = vocabulary.encode("<extra_id_0> lumi tavo<extra_id_1> sona <extra_id_2>")
    assert vocabulary.decode(ids) == peer[1].decode(ids)


@pytest.mark.parametrize("beam_size", [1, 4])
@torch.no_grad()
def test_outputs_are_transformers(model, peer, beam_size):
    translator = attend.Translator(model, threads=1)
    same = ended = 0
    for text in TEXTS:
        ids = peer[1](text, return_tensors="pt")
        found = peer[0].generate(
            **ids, num_beams=beam_size, min_new_tokens=1, max_new_tokens=25, bad_words_ids=FORBIDDEN, do_sample=False, use_cache=False,
            **({"length_penalty": 0.0, "early_stopping": False} if beam_size > 1 else {}))[0].tolist()[1:]
        ours = translator.translate([text], beam_size=beam_size, length_penalty=0, split_sentences="never", max_length=25)[0].hypotheses[0]
        same += ours.ids == [token for token in found if token > 1]
        ended += ours.finished
    assert same == len(TEXTS) and ended > 0.2 * len(TEXTS)


@torch.no_grad()
def log_probabilities(model, tokenizer, source, wanted):
    read = tokenizer(source, return_tensors="pt")["input_ids"]
    logits = model(input_ids=read, decoder_input_ids=torch.tensor([[0, *wanted[:-1]]])).logits[0].double()
    return logits.log_softmax(-1).gather(1, torch.tensor(wanted).unsqueeze(1)).squeeze(1).numpy()


def test_log_probabilities_are_transformers(model, peer):
    """Of texts longer than the distance from which on all are alike, too."""
    translator = attend.Translator(model)
    sources, targets = [*sentences(20, 4), " ".join(sentences(9, 6))], [*sentences(20, 5), " ".join(sentences(9, 7))]
    for source, target, score in zip(sources, targets, translator.score(sources, targets), strict=True):
        wanted = translator.target_vocabulary.encode(target) + [1]
        np.testing.assert_allclose(score.token_log_probabilities, log_probabilities(*peer, source, wanted), atol=1e-4)


def test_int8_and_samples(model, tmp_path):
    attend.quantize(model, tmp_path / "int8")
    for directory in (model, tmp_path / "int8"):
        done = subprocess.run([tiny_run.ATTEND, "verify", directory], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    scores = [attend.Translator(directory).score(TEXTS, TEXTS) for directory in (model, tmp_path / "int8")]
    means = [np.mean([sum(score.token_log_probabilities) for score in found]) for found in scores]
    assert abs(means[0] - means[1]) < 0.05 * abs(means[0])


def test_verify_asks_transformers(source, model):
    kind = attend.convert.recognise(source)
    assert kind.compare(str(source), str(model)) < 1e-4


def test_training_goes_on_exactly(source, model, tmp_path):
    """A run that begins with the model and is killed twice ends as one that is not; at first its losses are the model's."""
    if not tiny_run.TRAIN.exists():
        pytest.skip("this build has no training")
    for prefix, seed, lines in (("train", 1, 160), ("valid", 2, 12)):
        for side, more in (("en", 0), ("de", 1)):
            (tmp_path / f"{prefix}.{side}").write_text("\n".join(sentences(lines, seed + 10 * more)) + "\n", encoding="utf-8")
    options = {
        "train_source": tmp_path / "train.en", "train_target": tmp_path / "train.de", "valid_source": tmp_path / "valid.en",
        "valid_target": tmp_path / "valid.de", "init": model, "dropout": 0.1, "attention_dropout": 0.1, "batch_tokens": 300,
        "accumulate": 2, "threads": 2, "worker_threads": 2, "warmup_updates": 5, "max_updates": 24,
        "validate_every": 6, "checkpoint_every": 3, "beam_size": 1}
    tiny_run.trained(options, tmp_path / "unbroken")
    tiny_run.trained_though_killed(options, tmp_path / "killed", 5)
    tiny_run.assert_same(tmp_path / "killed", tmp_path / "unbroken")


def changed(source, folder, **keys):
    shutil.copytree(source, folder)
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | keys), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("keys", "part"), [
    ({"feed_forward_proj": "gated-tanh"}, 'feed_forward_proj is "gated-tanh", which attend lacks'),
    ({"num_layers": 1}, "is one that attend lacks a place for"),
    ({"num_layers": 9}, "is missing"),
    ({"is_encoder_decoder": False}, "is_encoder_decoder is false"),
    ({"d_kv": None}, "d_kv is null"),
    ({"num_heads": 5}, "; the source calls it '"),
    ({"relative_attention_num_buckets": 3}, "relative_buckets is 3, expected at least 4"),
    ({"d_kv": -1}, "d_kv is -1, expected 1 to"),
    ({"decoder_start_token_id": 10**12}, "decoder_start_token_id is 1000000000000, expected an id below"),
])
def test_what_attend_lacks_is_named(source, tmp_path, keys, part):
    with pytest.raises((attend.InputError, attend.UsageError), match=re.escape(part)):
        attend.convert.convert(changed(source, tmp_path / "changed", **keys), tmp_path / "out")


TOKENIZERS = [
    (lambda file: file["model"].update(type="WordPiece"), 'type is "WordPiece", which attend lacks'),
    (lambda file: file["model"].update(byte_fallback=True), "byte_fallback"),
    (lambda file: file["model"]["vocab"].append(["a", "b"]), 'is ["a", "b"], expected a token and its score, each token once'),
    (lambda file: file["model"]["vocab"].append(file["model"]["vocab"][5]), "each token once"),
    (lambda file: file["model"].update(unk_id=5000), "model.unk_id or model.unk_token is 5000"),
    (lambda file: file["added_tokens"].append({"id": 4, "content": "no"}), "expected a token with the next id"),
    (lambda file: file.update(normalizer={"type": "Lowercase"}), 'normalizer is {"type": "Lowercase"}'),
    (lambda file: file.update(normalizer={"type": "Precompiled", "precompiled_charsmap": "?"}), "expected base64"),
    (lambda file: file.update(model=[]), "expected a JSON object with a member 'model'"),
    (lambda file: (file["model"].update(vocab=file["model"]["vocab"][:30]), file["added_tokens"].clear()), "is it another model's?"),
]


@pytest.mark.parametrize(("edit", "part"), TOKENIZERS)
def test_damaged_tokenizers_are_refused(source, tmp_path, edit, part):
    folder = tmp_path / "changed"
    shutil.copytree(source, folder)
    transformers.AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    file = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    edit(file)
    (folder / "tokenizer.json").write_text(json.dumps(file), encoding="utf-8")
    with pytest.raises(attend.InputError, match=re.escape(part)):
        attend.convert.convert(folder, tmp_path / "out")


def test_a_folder_without_tokenizer_is_refused(source, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(source, folder)
    for name in ("tokenizer.json", "spiece.model"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(attend.InputError, match="expected tokenizer.json or spiece.model"):
        attend.convert.convert(folder, tmp_path / "out")
    (folder / "spiece.model").write_bytes(b"no model")
    with pytest.raises(attend.InputError, match="not a SentencePiece model"):
        attend.convert.convert(folder, tmp_path / "out")


WHEELS = pathlib.Path(os.environ.get("ATTEND_WHEELS", "none"))
# With commas, question marks and prefixes, as the tasks that flan-T5 learnt; and what the distilled model is for.
TASKS = [
    "translate English to German: The house is wonderful.", "translate English to French: Where is the library?",
    "summarize: The river rose for three days, and on the fourth the old bridge, which had stood since 1742, fell.",
    "Is a whale a fish?", "fixed the login page, added a test for expired sessions and updated the changelog",
    "premise: A man plays a guitar. hypothesis: A man makes music. Does the premise entail the hypothesis?"]


@torch.no_grad()
def test_a_trained_model_gives_transformers_outputs(tmp_path):
    if not (WHEELS / title_model.WHEEL).exists():
        pytest.skip(f"ATTEND_WHEELS has no {title_model.WHEEL}, which python/tests/title_model.py fetches")
    folder, output = tmp_path / title_model.NAME, tmp_path / "model"
    title_model.make(WHEELS, folder)
    attend.convert.convert(folder, output)
    assert attend.convert.recognise(folder).compare(str(folder), str(output)) < 1e-4
    peer = transformers.T5ForConditionalGeneration.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    found = attend.Translator(output, threads=1).translate(TASKS, beam_size=1, length_penalty=0, split_sentences="never", max_length=25)
    for line, ours in zip(TASKS, found, strict=True):
        theirs = peer.generate(
            **tokenizer(line, return_tensors="pt"), num_beams=1, min_new_tokens=1, max_new_tokens=25, bad_words_ids=FORBIDDEN)[0].tolist()
        assert ours.hypotheses[0].ids == [token for token in theirs if token > 1], line
    assert str(found[0]) == "Das Haus ist wunderbar."


def encoded(number, content):
    """A field of a protobuf message: a whole number below 128, or bytes of fewer than 128."""
    return bytes([number << 3, content]) if isinstance(content, int) else bytes([number << 3 | 2, len(content)]) + content


def initializer(name, kind, shape, field, content):
    parts = [*((1, size) for size in shape), (2, kind), (field, content), (8, name.encode())]
    return encoded(5, b"".join(encoded(*part) for part in parts))


def test_quantised_graphs_are_read_as_they_were():
    """Of a product, whose weights stand the other way round and have a negative zero point; of a table; of a norm in f32."""
    minus_three = b"\xfd" + b"\xff" * 8 + b"\x01"
    graph = b"".join([
        initializer("onnx::MatMul_7_quantized", 3, (2, 3), 9, np.array([[1, 2, 3], [-4, 0, 127]], np.int8).tobytes()),
        initializer("onnx::MatMul_7_scale", 1, (), 4, np.float32(0.5).tobytes()),
        initializer("onnx::MatMul_7_zero_point", 3, (), 5, minus_three),
        encoded(1, encoded(1, b"x") + encoded(1, b"onnx::MatMul_7_quantized") + encoded(3, b"/m/decoder/block.0/q/MatMul_quant")),
        initializer("m.shared.weight_quantized", 2, (1, 2), 9, bytes([0, 255])),
        initializer("m.shared.weight_scale", 1, (), 4, np.float32(2).tobytes()),
        initializer("m.shared.weight_zero_point", 2, (), 5, b"\x80\x01"),
        initializer("m.norm.weight", 1, (2,), 9, np.array([1.5, -2], np.float32).tobytes())])
    size = bytes([7 << 3 | 2, len(graph) & 127 | 128, len(graph) >> 7])
    found = title_model.read_graph(size + graph)
    assert {name: value.tolist() for name, value in found.items()} == {
        "decoder.block.0.q.weight": [[2, -0.5], [2.5, 1.5], [3, 65]], "shared.weight": [[-256, 254]], "norm.weight": [1.5, -2]}
