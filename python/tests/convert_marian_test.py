"""attend.convert of MarianMT models against transformers: tokens, ids of greedy and beam search, log-probabilities."""

import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

import attend
import numpy as np
import pytest
import tiny_run

attend.convert = pytest.importorskip("attend.convert")
with_tokens = pytest.importorskip("attend.convert._vocabulary").with_tokens
sentencepiece = pytest.importorskip("sentencepiece")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WORDS = "lumi tavo keri sona mipa rudu vesta olin paku neri dosa ilvo brant grau holm jarn kvist myrr noord prax Ähre æon naïve".split()
LANGUAGE = ">>dosa<<"


def sentences(count, seed):
    numbers = random.Random(seed)
    return [" ".join(numbers.choice(WORDS) for _ in range(numbers.randint(1, 12))) + numbers.choice(["", ".", " 12!"]) for _ in range(count)]


def train_pieces(folder, side, seed):
    text = folder / f"{side}.txt"
    words = [line.replace(WORDS[seed], "").replace("a", "á" if seed == 2 else "a") for line in sentences(400, seed)]
    text.write_text("\n".join(words) + "\n", encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / side), vocab_size=90, hard_vocab_limit=False, bos_id=-1, eos_id=0, unk_id=1, minloglevel=2)
    (folder / f"{side}.model").rename(folder / f"{side}.spm")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{side}.spm"))
    return [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())]


def write_vocabularies(folder):
    """As OPUS-MT's: the tokens of both sides in one list, some of them missing; returns how many there are."""
    tokens = dict.fromkeys(["</s>", "<unk>", LANGUAGE] + train_pieces(folder, "target", 2) + train_pieces(folder, "source", 1)[::-1])
    kept = [token for i, token in enumerate(tokens) if i < 3 or i % 17]
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(kept + ["<pad>"])}), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"source_lang": "en", "target_lang": "de"}), encoding="utf-8")
    return len(kept) + 1


@pytest.fixture(name="source", scope="module", params=["swish", "relu", "gelu", "half"])
def marian_model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("marian") / "opus"
    folder.mkdir()
    size = write_vocabularies(folder)
    config = transformers.MarianConfig(
        vocab_size=size, pad_token_id=size - 1, decoder_start_token_id=size - 1, eos_token_id=0, forced_eos_token_id=0, d_model=32,
        encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=64,
        activation_function="swish" if request.param == "half" else request.param, scale_embedding=True, max_position_embeddings=512)
    torch.manual_seed(3)
    model = transformers.MarianMTModel(config).eval()
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "embed_positions" not in name:
                value.copy_(torch.randn_like(value) * 0.3 + (1 if "norm.weight" in name else 0))
        model.final_logits_bias.copy_(torch.randn(1, size) * 0.3)
        model.final_logits_bias[0, 0] = 5  # so that outputs end
        model.final_logits_bias[0, -1] = 0
        model.model.shared.weight[-1] = 0
    if request.param == "half":
        model = model.half()
    model.save_pretrained(folder)
    return folder


TEXTS = sentences(60, 9) + ["", "unknown ☃ ending", f"{LANGUAGE} lumi tavo", ">>lumi<< tavo", "  two  spaces ", "12 3.5"]


def test_tokens_are_transformers(source, model, peer):
    translator = attend.Translator(model)
    for text in TEXTS:
        if text.startswith(">>lumi"):
            continue  # transformers makes an unknown token of it
        assert translator.source_vocabulary.encode(text) + [0] == peer[1](text)["input_ids"], text


LANGUAGES = "ara deu fin fra hin jpn kor por rus spa tam tel tha tur zho_simpl".split()


@pytest.mark.parametrize("language", LANGUAGES)
def test_tokens_of_flores_are_transformers(language, tmp_path):
    """Two SentencePiece models, of English and of the language: what one lacks may stand in the list by the other."""
    folder = pathlib.Path(os.environ.get("ATTEND_DATA") or "/nonexistent") / "flores101"
    if not folder.exists():
        pytest.skip("ATTEND_DATA has no flores101")
    lines = {name: gzip.open(folder / f"{name}.devtest.gz", "rt", encoding="utf-8").read().splitlines() for name in ("eng", language)}
    tokens = {"</s>": 0, "<unk>": 1}
    for side, name in (("source", "eng"), ("target", language)):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines[name][:300]), model_prefix=str(tmp_path / side), vocab_size=2000, hard_vocab_limit=False,
            character_coverage=0.99, bos_id=-1, eos_id=0, unk_id=1, minloglevel=2)
        (tmp_path / f"{side}.model").rename(tmp_path / f"{side}.spm")
        pieces = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / f"{side}.spm"))
        for i in range(pieces.get_piece_size()):
            tokens.setdefault(pieces.id_to_piece(i), len(tokens))
    tokens["<pad>"] = len(tokens)
    (tmp_path / "vocab.json").write_text(json.dumps(tokens), encoding="utf-8")
    peer = transformers.MarianTokenizer(
        str(tmp_path / "source.spm"), str(tmp_path / "target.spm"), str(tmp_path / "vocab.json"), source_lang="en", target_lang="de")
    ids = {"pad": tokens["<pad>"], "unk": 1, "bos": tokens["<pad>"], "eos": 0}
    listed = with_tokens((tmp_path / "source.spm").read_bytes(), list(tokens), ids)
    (tmp_path / "listed.spm").write_bytes(listed)
    vocabulary, by_the_list = attend.Vocabulary(tmp_path / "listed.spm"), 0
    alone = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "source.spm"))
    for line in lines["eng"] + lines[language]:
        wanted = peer(line)["input_ids"]
        assert vocabulary.encode(line) + [0] == wanted, line
        by_the_list += alone.encode(line).count(1) > wanted.count(1)
    assert by_the_list > 20


@pytest.mark.parametrize("beam_size", [1, 4])
@torch.no_grad()
def test_outputs_are_transformers(model, peer, beam_size):
    translator = attend.Translator(model, threads=1)
    same = ended = 0
    texts = [text for text in TEXTS if text.strip() and not text.startswith(">>lumi")]
    for text in texts:
        ids = peer[1](text, return_tensors="pt")
        bad = [[peer[0].config.pad_token_id], [1]]
        found = peer[0].generate(
            **ids, num_beams=beam_size, max_length=ids["input_ids"].shape[1] + 50, bad_words_ids=bad, do_sample=False,
            **({"length_penalty": 0.0, "early_stopping": False} if beam_size > 1 else {}))[0].tolist()[1:]
        found = [token for token in found if token != peer[0].config.pad_token_id]
        assert found[-1] == 0  # an output that is cut has it, too
        ours = translator.translate([text], beam_size=beam_size, length_penalty=0, split_sentences="never")[0].hypotheses[0]
        same += ours.ids[:len(found) - 1] == found[:-1] and (ours.finished or len(found) > 40)
        ended += ours.finished
    assert same == len(texts) and ended > 0.7 * len(texts)


def write_trained(folder, lines):
    """A small model that is trained a little on lines of two languages."""
    folder.mkdir()
    for side, text in lines.items():
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(text), model_prefix=str(folder / side), vocab_size=1000, hard_vocab_limit=False, bos_id=-1, eos_id=0, unk_id=1,
            minloglevel=2)
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
    pieces = [sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{side}.spm")) for side in lines]
    tokens = list(dict.fromkeys(part.id_to_piece(i) for part in pieces for i in range(part.get_piece_size()))) + ["<pad>"]
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"source_lang": "en", "target_lang": "de"}), encoding="utf-8")
    pad = len(tokens) - 1
    torch.manual_seed(1)
    model = transformers.MarianMTModel(transformers.MarianConfig(
        vocab_size=pad + 1, pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=0, forced_eos_token_id=None, d_model=64,
        encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128,
        activation_function="swish", scale_embedding=True, dropout=0))
    model.save_pretrained(folder)
    tokenizer, adam = transformers.AutoTokenizer.from_pretrained(folder), torch.optim.Adam(model.parameters(), 2e-3)
    for first in range(0, len(lines["source"]), 32):
        some = {side: text[first : first + 32] for side, text in lines.items()}
        batch = tokenizer(some["source"], text_target=some["target"], padding=True, return_tensors="pt")
        batch["labels"][batch["labels"] == pad] = -100
        with torch.enable_grad():
            model(**batch).loss.backward()
        adam.step()
        adam.zero_grad()
    model.model.shared.weight.data[-1] = 0
    model.save_pretrained(folder)
    return model.eval(), tokenizer, pad


@pytest.mark.skipif("ATTEND_DATA" not in os.environ, reason="ATTEND_DATA is not set")
@torch.no_grad()
def test_outputs_of_a_thousand_real_lines_are_transformers(tmp_path):
    """At least 99.8 % of them, greedily and with a beam: sums of equal scores may be rounded otherwise."""
    folder = pathlib.Path(os.environ["ATTEND_DATA"]) / "multi30k"
    read = {side: (folder / f"train.{name}").read_text("utf-8").splitlines()[:6400] for side, name in (("source", "en"), ("target", "de"))}
    peer, tokenizer, pad = write_trained(tmp_path / "opus", read)
    attend.convert.convert(tmp_path / "opus", tmp_path / "model")
    translator, lines = attend.Translator(tmp_path / "model"), (folder / "test_2016_flickr.en").read_text("utf-8").splitlines()[:1000]
    for beam_size in (1, 4):
        ours = translator.translate(lines, beam_size=beam_size, length_penalty=0, split_sentences="never", max_length=24)
        same = counted = 0
        for first in range(0, len(lines), 50):
            batch = tokenizer(lines[first : first + 50], padding=True, return_tensors="pt")
            more = {"length_penalty": 0.0, "early_stopping": False} if beam_size > 1 else {}
            found = peer.generate(
                **batch, num_beams=beam_size, max_new_tokens=24, bad_words_ids=[[pad], [1]], begin_suppress_tokens=[0], do_sample=False, **more)
            for translation, ids in zip(ours[first : first + 50], found.tolist(), strict=True):
                one, wrote = translation.hypotheses[0], [token for token in ids[1:] if token != pad]
                if one.finished != (wrote[-1] == 0):  # at the longest length attend prefers what has ended
                    continue
                counted += 1
                same += [*one.ids, *[0] * one.finished] == wrote
        assert counted >= 950 and same >= 0.998 * counted, (beam_size, same, counted)
    assert len({str(translation) for translation in ours}) > 100
    hypotheses = [translation.hypotheses[0] for translation in ours]
    for first in range(0, len(lines), 50):
        batch, some = tokenizer(lines[first : first + 50], padding=True, return_tensors="pt"), hypotheses[first : first + 50]
        wrote = [torch.tensor([*one.ids, *[0] * one.finished]) for one in some]
        wanted = torch.nn.utils.rnn.pad_sequence(wrote, batch_first=True, padding_value=pad)
        started = torch.cat([torch.full((len(wrote), 1), pad), wanted[:, :-1]], 1)
        logits = peer(**batch, decoder_input_ids=started).logits.double()
        logits[:, :, pad] = -torch.inf  # which attend has no row for
        of_tokens = logits.log_softmax(-1).gather(2, wanted.unsqueeze(2)).squeeze(2).masked_fill(wanted == pad, 0)
        np.testing.assert_allclose([one.log_probability for one in some], of_tokens.sum(1), atol=1e-4)


@torch.no_grad()
def test_log_probabilities_are_transformers(model, peer):
    translator = attend.Translator(model)
    sources, targets = sentences(30, 4), sentences(30, 5)
    scores = translator.score(sources, targets)
    for source, target, score in zip(sources, targets, scores):
        read = peer[1](source, return_tensors="pt")["input_ids"]
        wanted = torch.tensor([translator.target_vocabulary.encode(target) + [0]])
        start = torch.full((1, 1), peer[0].config.pad_token_id)
        logits = peer[0](input_ids=read, decoder_input_ids=torch.cat([start, wanted[:, :-1]], 1)).logits[0, :, :-1].double()
        expected = logits.log_softmax(-1).gather(1, wanted[0].unsqueeze(1)).squeeze(1)
        np.testing.assert_allclose(score.token_log_probabilities, expected.numpy(), atol=1e-4)


def imported(source, output, *options, python=sys.executable):
    command = [os.path.join(os.environ["BUILD_DIR"], "attend"), "import", source, "--output", output, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"ATTEND_PYTHON": python})


def test_the_command_says_what_it_found(source, tmp_path):
    done = imported(source, tmp_path / "model", "--verify")
    assert done.returncode == 0, done.stderr
    found, *_, wrote, verified = done.stdout.splitlines()
    assert "MarianMT" in found and "2 + 2 layers, 32 wide" in wrote and "samples agree within" in verified
    again = imported(source, tmp_path / "model")
    assert again.returncode == 2 and "exists" in again.stderr


def test_the_command_refuses(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "marian", "d_model": "wide"}', encoding="utf-8")
    for source, python, status, part in (
        (tmp_path / "gone", sys.executable, 3, "does not exist"), (tmp_path, sys.executable, 3, "vocab_size is null"),
        (tmp_path, "/bin/false", 2, "needs the Python package")):
        done = imported(source, tmp_path / "out", python=python)
        assert done.returncode == status and part in done.stderr, done.stderr
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("change", "part"), [
    ({"activation_function": "tanh"}, 'activation_function is "tanh", which attend lacks'),
    ({"encoder_layers": 3}, "tensor 'model.encoder.layers.2.self_attn.q_proj.weight' is missing"),
    ({"encoder_layers": 1}, "is one that attend lacks a place for"),
    ({"decoder_start_token_id": 5000}, "decoder_start_token_id is 5000, expected an id below"),
    ({"pad_token_id": 5, "decoder_start_token_id": 5}, "has no row of zeros for the pad token, which is the last"),
    ({"tie_word_embeddings": False}, "tensor 'lm_head.weight' is missing"),
    ({"vocab_size": 12}, "tokens the ids 0 to 11"),
    ({"vocab_size": 300000000}, "tokens the ids 0 to 299999999"),
    ({"eos_token_id": 1000000000}, "eos_token_id is 1000000000, expected an id below"),
    ({"decoder_vocab_size": "x"}, 'decoder_vocab_size is "x", expected int'),
])
def test_what_attend_lacks_is_named(source, tmp_path, change, part):
    folder = tmp_path / "changed"
    shutil.copytree(source, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | change), encoding="utf-8")
    with pytest.raises(attend.InputError, match=re.escape(part)):
        attend.convert.convert(folder, tmp_path / "out")


def test_damaged_vocabularies_are_refused(source, tmp_path):
    """A folder without a file of pieces, and half a character."""
    folder = tmp_path / "damaged"
    shutil.copytree(source, folder)
    vocabulary = (folder / "vocab.json").read_text(encoding="utf-8")
    (folder / "vocab.json").write_text(vocabulary.replace('"</s>"', '"\\ud800"'), encoding="utf-8")
    with pytest.raises(attend.InputError, match="vocab.json: .*ud800. is no token"):
        attend.convert.convert(folder, tmp_path / "out")
    (folder / "vocab.json").write_text(vocabulary, encoding="utf-8")
    for name in ("source.spm", "target.spm"):
        (folder / name).rename(folder / "away")
        with pytest.raises(attend.InputError, match=f"can't read '.*{name}': No such file"):
            attend.convert.convert(folder, tmp_path / "out")
        (folder / "away").rename(folder / name)


def test_a_special_token_may_be_an_object(source, model, tmp_path):
    folder = tmp_path / "objects"
    shutil.copytree(source, folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"unk_token": {"content": "<unk>"}}), encoding="utf-8")
    attend.convert.convert(folder, tmp_path / "out")
    assert (tmp_path / "out/source.spm").read_bytes() == (model / "source.spm").read_bytes()


def test_weights_in_several_files_give_the_same_model(source, model, tmp_path):
    folder = tmp_path / "parts"
    shutil.copytree(source, folder)
    (folder / "model.safetensors").unlink()
    transformers.MarianMTModel.from_pretrained(source, dtype="auto").save_pretrained(folder, max_shard_size="20KB")
    assert (folder / "model.safetensors.index.json").exists() and not (folder / "model.safetensors").exists()
    attend.convert.convert(folder, tmp_path / "out")
    assert (tmp_path / "out/model.safetensors").read_bytes() == (model / "model.safetensors").read_bytes()


def test_code_in_a_pickle_is_told_and_not_run(source, tmp_path):
    folder = tmp_path / "code"
    shutil.copytree(source, folder)
    (folder / "model.safetensors").unlink()
    torch.save({"model.shared.weight": os.system}, folder / "pytorch_model.bin")
    with pytest.raises(attend.InputError, match=r"it holds code \(posix.system\), which attend does not load"):
        attend.convert.convert(folder, tmp_path / "out")


def test_damaged_weights_are_refused(source, tmp_path):
    folder = tmp_path / "cut"
    shutil.copytree(source, folder)
    whole = (folder / "model.safetensors").read_bytes()
    for content in (whole[:-100], whole[:50], b""):
        (folder / "model.safetensors").write_bytes(content)
        with pytest.raises(attend.InputError, match="not a whole safetensors file"):
            attend.convert.convert(folder, tmp_path / "out")
    (folder / "model.safetensors").unlink()
    with pytest.raises(attend.InputError, match="has no weights"):
        attend.convert.convert(folder, tmp_path / "out")
    torch.save({"model.shared.weight": print}, folder / "pytorch_model.bin")
    with pytest.raises(attend.InputError, match="it holds print, but only tensors"):
        attend.convert.convert(folder, tmp_path / "out")


def test_pickles_give_the_same_model(source, model, tmp_path):
    folder = tmp_path / "pickle"
    shutil.copytree(source, folder)
    state = transformers.MarianMTModel.from_pretrained(source).state_dict()
    (folder / "model.safetensors").unlink()
    torch.save(state, folder / "pytorch_model.bin")
    attend.convert.convert(folder, tmp_path / "model")
    assert (tmp_path / "model/model.safetensors").read_bytes() == (model / "model.safetensors").read_bytes()


def test_the_page_of_python(source):
    assert tiny_run.run_page_block("attend.convert", {"opus-mt-en-de": source}).startswith("transformers MarianMT 2 ")
