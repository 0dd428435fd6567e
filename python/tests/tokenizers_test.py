"""attend.Vocabulary of a tokenizer.json against Hugging Face's tokenizers."""

import gzip
import json
import os
import pathlib
import random

import attend
import pytest
from package import ROOT
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

DATA = pathlib.Path(os.environ.get("ATTEND_DATA") or "/nonexistent")
TEXT = [line for path in sorted((ROOT / "docs").glob("*.md")) for line in path.read_text().splitlines()] + [
    "Die alte Frau liest im Garten eine große Zeitung.", "Ça va, où est l'été ?", "Быстрая лиса прыгает", "سلام دنیا", "नमस्ते दुनिया",
    "今日は良い天気です。", "안녕하세요 세계", "ภาษาไทย", "I'll say we're, they'd've, it's don't"]
BERT_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ODD = [
    " ", "  ", "\t", "\r", "\x0b", "\x85", "\xa0", "\u2028", "\u3000", "\u200b", "\u200d", "\ufe0f", "\ufeff", "\x01", "\x7f", "\ufffd", "\ue000",
    "\U0010ffff", "\u0300", "\u0301", "\u0323", "\u1ab0", "\U0001f600", "\U0001f468\u200d\U0001f469", "É", "ß", "İ", "Σ", "ﬁ", "½", "한", "ᄀ", "ᅡ", "中",
    "日本", "\u1e9e", "[MASK]", "[UNK]", "<|endoftext|>", "<mask>", "'s", "'S", "n't", "'ll", "''", "word", "The", "123", "٣", "-", "...", "_", "!", "।",
    "\u0f71\u0f72\u0f74", "\u0344", "a\u0323\u0307", "\u180e", "\u32ff", "\u1885", "\u1c89", "Foo", "foo", "solo", "<both>", "x" * 101]


def odd_lines(count, seed):
    """Of odd parts, and of characters of all of Unicode."""
    draw = random.Random(seed)
    lines = []
    for _ in range(count):
        line = ""
        for _ in range(draw.randint(1, 12)):
            point = draw.choice([draw.randrange(1, 0x80), draw.randrange(1, 0x3000), draw.randrange(1, 0xD800), draw.randrange(0xE000, 0x20000)])
            line += draw.choice(ODD) if draw.random() < 0.8 else chr(point)
        lines.append(line.replace("\n", " "))
    return lines


def wordpiece(normalizer, pre_tokenizer, text=None):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
    tokenizer.train_from_iterator(text or TEXT, trainers.WordPieceTrainer(vocab_size=2000, special_tokens=BERT_TOKENS, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.decoder = decoders.WordPiece(cleanup=True)
    return tokenizer


def byte_bpe(pre_tokenizer, normalizer=None, text=None, tokens=("<|endoftext|>",)):
    tokenizer = Tokenizer(models.BPE())
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizer, decoders.ByteLevel()
    tokenizer.train_from_iterator(text or TEXT, trainers.BpeTrainer(
        vocab_size=3000, special_tokens=list(tokens), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return tokenizer


def roberta():
    tokenizer = byte_bpe(pre_tokenizers.ByteLevel(add_prefix_space=True), tokens=["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return tokenizer


def with_added_tokens():
    tokenizer = wordpiece(normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer())
    tokenizer.add_tokens([
        AddedToken("Foo", normalized=True), AddedToken("É b", normalized=True), AddedToken("solo", single_word=True, normalized=False),
        AddedToken("<both>", lstrip=True, rstrip=True, normalized=False), AddedToken("  ", normalized=False), AddedToken("日本x", normalized=False)])
    return tokenizer


def bert(**options):
    return wordpiece(normalizers.BertNormalizer(**options), pre_tokenizers.BertPreTokenizer())


KINDS = {
    "bert": bert,
    "cased": lambda: bert(lowercase=False),
    "accents": lambda: bert(clean_text=False, handle_chinese_chars=False, strip_accents=False),
    "stripped": lambda: bert(strip_accents=True, lowercase=False),
    "nfc": lambda: wordpiece(normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()]), pre_tokenizers.Whitespace()),
    "nfkc": lambda: wordpiece(normalizers.NFKC(), pre_tokenizers.WhitespaceSplit()),
    "marks": lambda: wordpiece(normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents()]), pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.BertPreTokenizer()])),
    "added": with_added_tokens,
    "gpt2": lambda: byte_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False)),
    "roberta": roberta,
    "whole": lambda: byte_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False), normalizers.NFD()),
    "split": lambda: byte_bpe(pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.ByteLevel(add_prefix_space=True)])),
}


@pytest.fixture(name="both", scope="module", params=KINDS)
def tokenizer_and_vocabulary(request, tmp_path_factory):
    return load(KINDS[request.param](), tmp_path_factory.mktemp("tokenizer"))


def load(tokenizer, folder):
    if not tokenizer.token_to_id("[SEP]") and not tokenizer.token_to_id("</s>"):
        tokenizer.add_special_tokens(["<|endoftext|>"])
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return tokenizer, attend.Vocabulary(path)


def differences(tokenizer, vocabulary, lines):
    peers = tokenizer.encode_batch(lines, add_special_tokens=False)
    return [line for line, peer in zip(lines, peers) if vocabulary.encode(line) != peer.ids]


def one_line(text):
    return text.replace("\n", " ").replace("\r", " ").replace("\0", " ")


def test_ids_are_those_of_tokenizers(both):
    assert differences(*both, TEXT + ["", "a", " a", "a ", *ODD, *odd_lines(3000, seed=1)]) == []


def test_text_is_that_of_tokenizers(both):
    tokenizer, vocabulary = both
    draw = random.Random(2)
    size = tokenizer.get_vocab_size()
    assert len(vocabulary) == size
    lists = [peer.ids for peer in tokenizer.encode_batch(TEXT[:500] + odd_lines(500, seed=3))]
    lists += [[draw.randrange(size) for _ in range(draw.randint(0, 9))] for _ in range(2000)]
    for ids in lists:
        assert vocabulary.decode(ids) == one_line(tokenizer.decode(ids)), ids


def test_pieces_are_those_of_the_file(both, tmp_path):
    tokenizer, vocabulary = both
    tokenizer.save(str(tmp_path / "copy.json"))
    file = json.loads((tmp_path / "copy.json").read_text())
    pieces = {**file["model"]["vocab"], **{token["content"]: token["id"] for token in file["added_tokens"]}}
    assert len(pieces) == len(vocabulary)
    assert all(vocabulary.piece(id) == piece and vocabulary.id(piece) == id for piece, id in pieces.items())


@pytest.mark.parametrize("kind", ["bert", "marks", "gpt2"])
def test_each_character_of_unicode_is_read_alike(kind, tmp_path):
    both = load(KINDS[kind](), tmp_path)
    points = [point for point in range(1, 0x110000) if not 0xD800 <= point < 0xE000 and point != 0x0A]
    lines = ["".join(f"a{chr(point)}b1{chr(point)}2-{chr(point)}- " for point in points[at:at + 100]) for at in range(0, len(points), 100)]
    assert differences(*both, lines) == []


def test_tokens_around_a_text(tmp_path):
    _, vocabulary = load(bert(), tmp_path)
    assert vocabulary.type == "wordpiece"
    assert (vocabulary.pad, vocabulary.unk, vocabulary.bos, vocabulary.eos, vocabulary.id("[MASK]")) == (0, 1, 2, 3, 4)
    _, vocabulary = load(roberta(), tmp_path)
    assert vocabulary.type == "byte_bpe"
    assert (vocabulary.pad, vocabulary.unk, vocabulary.bos, vocabulary.eos) == (1, 3, 0, 2)
    assert vocabulary.piece(vocabulary.id("<mask>")) == "<mask>"
    _, vocabulary = load(KINDS["gpt2"](), tmp_path)
    assert (vocabulary.pad, vocabulary.unk, vocabulary.bos, vocabulary.eos) == (-1, -1, 0, 0)


@pytest.mark.parametrize("change, message", [
    (lambda file: file["model"].update(type="Unigram"), "model.type"),
    (lambda file: file.update(normalizer={"type": "Replace"}), "Replace"),
    (lambda file: file.update(pre_tokenizer={"type": "Digits", "individual_digits": True}), "Digits"),
    (lambda file: file["model"]["vocab"].update(the=10**9), "the id of 'the'"),
    (lambda file: file.update(more=1), "more is not known"),
])
def test_what_is_not_known_is_named(change, message, tmp_path):
    path = tmp_path / "tokenizer.json"
    bert().save(str(path))
    file = json.loads(path.read_text())
    change(file)
    path.write_text(json.dumps(file))
    with pytest.raises(attend.InputError, match=message):
        attend.Vocabulary(path)


@pytest.mark.parametrize("kind", ["bert", "gpt2", "whole"])
def test_long_words_take_no_long_time(kind, tmp_path):
    tokenizer, vocabulary = load(KINDS[kind](), tmp_path)
    draw = random.Random(4)
    for line in ["a" * 1_000_000, "".join(draw.choice("etaoin") for _ in range(1_000_000))]:
        ids = vocabulary.encode(line)
        assert ids == tokenizer.encode(line, add_special_tokens=False).ids


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_real_text(kind, tmp_path):
    folder, book = DATA / "flores101", DATA / "lm/wikitext2.valid.txt"
    if not folder.is_dir() or not book.is_file():
        pytest.skip("ATTEND_DATA has no flores101 and lm")
    lines = book.read_text().split("\n")
    for path in sorted(folder.glob("*.gz")):
        lines += gzip.decompress(path.read_bytes()).decode().split("\n")
    text = lines[::5]
    make = {"bert": lambda: wordpiece(normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(), text),
            "gpt2": lambda: byte_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False), text=text)}
    assert differences(*load(make[kind](), tmp_path), lines) == []
