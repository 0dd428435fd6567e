"""attend.extend against those who read the same vocabulary files, and against the formulas of attend.torch."""

import json
import pathlib

import attend
import numpy as np
import pytest
from package import GOLDEN

sentencepiece = pytest.importorskip("sentencepiece")
tokenizers = pytest.importorskip("tokenizers")
torch = pytest.importorskip("torch")
attend.torch = pytest.importorskip("attend.torch")

TOKENS = [">>xx<<", "quokka", "ไทย"]
TEXTS = [">>xx<< lumi quokka", "tavoquokkas, keri", "quokka>>xx<<", "lumi tavo keri", "ไทยไทย lumi", "", "quokka"]


def extended(model, output, tokens=tuple(TOKENS)):
    first = attend.extend(model, list(tokens), output)
    before, now = (attend.Vocabulary(path / "vocab.spm") for path in (pathlib.Path(model), output))
    assert first == len(before) and len(now) == first + len(tokens)
    assert [now.piece(i) for i in range(first)] == [before.piece(i) for i in range(first)]
    return before, now


def test_sentencepiece_reads_the_vocabulary(tmp_path):
    before, now = extended(GOLDEN, tmp_path / "more")
    peer = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "more/vocab.spm"))
    for text in TEXTS:
        ids = now.encode(text)
        assert ids == peer.encode(text) and now.decode(ids) == peer.decode(ids)
        for i, token in enumerate(TOKENS):
            assert ids.count(len(before) + i) == text.count(token)
        if not any(token in text for token in TOKENS):
            assert ids == before.encode(text)
    assert [now.decode(now.encode(text)) for text in TEXTS[:1]] == TEXTS[:1]


def tokenizer_of(kind):
    lines = ["lumi tavo keri", "sona mipa, rudu vesta!", "olin paku"] * 20
    if kind == "wordpiece":
        tokenizer = tokenizers.BertWordPieceTokenizer()
        tokenizer.train_from_iterator(lines, vocab_size=100, show_progress=False)
    else:
        tokenizer = tokenizers.ByteLevelBPETokenizer()
        tokenizer.train_from_iterator(lines, vocab_size=300, special_tokens=["<|endoftext|>"], show_progress=False)
    return tokenizer


@pytest.mark.parametrize("kind", ["wordpiece", "byte_bpe"])
def test_tokenizers_reads_the_vocabulary(kind, tmp_path):
    convert = pytest.importorskip("attend.convert")
    tokenizer = tokenizer_of(kind)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    vocabulary = attend.Vocabulary(tmp_path / "tokenizer.json")
    model = convert._source.model(
        task="language_model", target_vocab_size=len(vocabulary), decoder=convert._source.stack(layers=1, d_model=8, heads=2, d_ff=8),
        special_ids={name: getattr(vocabulary, name) for name in ("pad", "unk", "bos", "eos")})
    shapes = attend.torch.Transformer(json.loads(json.dumps(model), object_hook=lambda members: attend.torch.Config(**members))).state_dict()
    tensors = {name: np.zeros(tuple(tensor.shape), np.float32) for name, tensor in shapes.items()}
    content = (tmp_path / "tokenizer.json").read_bytes()
    convert._source.write_model(json.dumps(model), tensors, content, content, "{}", ["lumi"], tmp_path / "model")
    before, now = extended(tmp_path / "model", tmp_path / "more")
    peer = tokenizers.Tokenizer.from_file(str(tmp_path / "more/vocab.spm"))
    for text in TEXTS:
        ids = now.encode(text)
        assert ids == peer.encode(text, add_special_tokens=False).ids and now.decode(ids) == peer.decode(ids)
        for i, token in enumerate(TOKENS):
            assert ids.count(len(before) + i) == text.count(token)
        if kind == "byte_bpe":
            assert now.decode(ids) == text


def test_a_new_token_has_the_mean_of_its_parts_logits(tmp_path):
    before, now = extended(GOLDEN, tmp_path / "more")
    source, target = torch.tensor([[*before.encode("lumi tavo"), 3]]), torch.tensor([[2, *before.encode("keri")]])
    old, new = (attend.torch.load(path)(source, target)[0] for path in (GOLDEN, tmp_path / "more"))
    torch.testing.assert_close(new[:, :len(before)], old, atol=1e-6, rtol=1e-6)
    for i, token in enumerate(TOKENS):
        parts = [part for part in before.encode(token) if before.piece(part) != "▁"]
        torch.testing.assert_close(new[:, len(before) + i], old[:, parts].mean(1), atol=1e-5, rtol=1e-5)


def test_a_language_of_marian_s_names_the_target(tmp_path):
    marian = pytest.importorskip("convert_marian_test")
    folder = tmp_path / "opus"
    folder.mkdir()
    size = marian.write_vocabularies(folder)
    config = marian.transformers.MarianConfig(
        vocab_size=size, pad_token_id=size - 1, decoder_start_token_id=size - 1, eos_token_id=0, forced_eos_token_id=0, d_model=32,
        encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=64)
    peer = marian.transformers.MarianMTModel(config)
    with torch.no_grad():
        peer.model.shared.weight[-1] = 0
    peer.save_pretrained(folder)
    attend.convert.convert(folder, tmp_path / "model")
    first = attend.extend(tmp_path / "model", [">>xx<<"], tmp_path / "more")
    assert first == size - 1
    for side in ("source", "target"):
        before, now = (attend.Vocabulary(tmp_path / name / f"{side}.spm") for name in ("model", "more"))
        for text in (f"{marian.LANGUAGE} lumi tavo", "lumi tavo", "sona"):
            assert now.encode(text) == before.encode(text)
        assert now.encode(">>xx<< lumi tavo") == [first, *before.encode("lumi tavo")]
