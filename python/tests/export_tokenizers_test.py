"""The tokenizer.json that exports make of SentencePiece models: the ids and texts of attend's vocabularies, of every kind and option."""

import gzip
import json
import os
import pathlib

import attend
import pytest
from directories import IDS, sentences, vocabulary

attend.convert = pytest.importorskip("attend.convert")
tokenizers = pytest.importorskip("tokenizers")
from attend.convert import _to_tokenizer  # noqa: E402

FLORES = pathlib.Path(os.environ.get("ATTEND_DATA", "none")) / "flores101"
TEXTS = [
    *sentences(60, 9), "", "unknown ☃ ending", "☃☃ two ☃", "  two  spaces ", "12 3.5", "naïve ÆON ﬁne Ⅳ", "a\u200bb", "▁sign", "x\tx",
    "nai\u0308ve", "O\u0308 o\u0323\u0302"]
# Options of `attend vocab`, and its size.
KINDS = {
    "unigram": ([], 110), "bpe": (["--type", "bpe"], 150), "word": (["--type", "word"], 90), "char": (["--type", "char"], 40),
    "bytes": (["--byte-fallback"], 340), "bpe_bytes": (["--type", "bpe", "--byte-fallback"], 400), "lower": (["--case", "lower"], 110),
    "as_it_is": (["--normalization", "none"], 110), "symbols": (["--user-defined-symbols", "⟦0⟧", "lum"], 110),
    "bpe_symbols": (["--user-defined-symbols", "⟦0⟧", "lum", "--type", "bpe"], 110), "digits": (["--split-digits"], 110)}


def both(content, folder, *, ends):
    made = _to_tokenizer.tokenizer_of(content, IDS, "vocab.spm", ends=ends)
    (folder / "vocab.spm").write_bytes(content)
    return attend.Vocabulary(folder / "vocab.spm"), tokenizers.Tokenizer.from_str(made.files["tokenizer.json"].decode())


@pytest.mark.parametrize("kind", KINDS)
def test_ids_and_texts(kind, tmp_path):
    options, size = KINDS[kind]
    ours, theirs = both(vocabulary(tmp_path, *options, size=size), tmp_path, ends=True)
    assert theirs.get_vocab_size() == len(ours)
    for text in [*TEXTS, "a ⟦0⟧ b", "lumlum ⟦0⟧⟦0⟧."]:
        if kind == "as_it_is" and "▁" in text:
            continue
        ids = ours.encode(text)
        assert theirs.encode(text).ids == [IDS["bos"], *ids, IDS["eos"]], text
        if IDS["unk"] not in ids:
            assert theirs.decode(ids).strip(" ") == ours.decode(ids).strip(" "), text


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word"])
def test_a_mask_goes_with_the_space_before_it(kind, tmp_path):
    ours, theirs = both(vocabulary(tmp_path, "--mask", "--type", kind, size=110), tmp_path, ends=True)
    mask = ours.id("[MASK]")
    for text in ("lumi [MASK] tavo", "[MASK] tavo", "lumi [MASK]", "lumi [MASK] [MASK] tavo", "[MASK]"):
        parts = [ours.encode(part) for part in text.split("[MASK]")]
        expected = [IDS["bos"], *parts[0], *(i for part in parts[1:] for i in [mask, *part]), IDS["eos"]]
        assert theirs.encode(text).ids == expected, text


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
def test_the_end_of_a_line_is_a_token(kind, tmp_path):
    ours, theirs = both(vocabulary(tmp_path, "--newline", "--type", kind, size=110), tmp_path, ends=False)
    newline = ours.id("<newline>")
    text = "lumi tavo\nkeri\n\nsona mipa"
    lines = [ours.encode(line) for line in text.split("\n")]
    expected = [i for line in lines for i in [newline, *line]][1:]
    assert theirs.encode(text).ids == [IDS["bos"], *expected]
    assert theirs.decode(theirs.encode(text).ids) == text


@pytest.mark.skipif(not FLORES.exists(), reason="ATTEND_DATA has no flores101")
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_every_script(kind, tmp_path):
    """A vocabulary of 16 languages, and lines of all of them."""
    lines = [line for path in sorted(FLORES.glob("*.gz")) for line in gzip.open(path, "rt", encoding="utf-8").read().splitlines()[:300]]
    content = vocabulary(tmp_path, "--type", kind, "--byte-fallback", size=6000, lines=lines[::2])
    ours, theirs = both(content, tmp_path, ends=True)
    wrong = [line for line in lines if theirs.encode(line).ids[1:-1] != ours.encode(line)]
    assert not wrong
    wrong = [line for line in lines if theirs.decode(ours.encode(line)) != ours.decode(ours.encode(line))]
    assert not wrong


def test_marked_case_is_refused(tmp_path):
    content = vocabulary(tmp_path, "--case", "factor", size=110)
    with pytest.raises(attend.InputError, match="marks case"):
        _to_tokenizer.tokenizer_of(content, IDS, "vocab.spm", ends=True)


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
AROUND = {"type": "BertProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0]}
BEFORE = {
    "type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}}


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("processor", [None, BYTE_LEVEL, AROUND, BEFORE, {"type": "Sequence", "processors": [BYTE_LEVEL, AROUND]}])
def test_a_tokenizer_json_gets_what_stands_around_a_text(processor, ends, tmp_path):
    tokenizer = tokenizers.ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(sentences(300, 1), vocab_size=330, special_tokens=["<s>", "</s>"], show_progress=False)
    content = json.dumps(json.loads(tokenizer.to_str()) | {"post_processor": processor})
    (tmp_path / "vocab").write_text(content, encoding="utf-8")
    ours = attend.Vocabulary(tmp_path / "vocab")
    ids = {name: getattr(ours, name) for name in ("pad", "unk", "bos", "eos")}
    made = _to_tokenizer.tokenizer_of(content.encode(), ids, "vocab.spm", ends=ends).files["tokenizer.json"]
    theirs = tokenizers.Tokenizer.from_str(made.decode())
    for text in TEXTS:
        assert theirs.encode(text).ids == [ours.bos, *ours.encode(text), *([ours.eos] if ends else [])]
    as_it_was = processor == BEFORE if not ends else processor is not None and "BertProcessing" in json.dumps(processor)
    assert (made == content.encode()) == as_it_was
    (tmp_path / "again").write_bytes(made)
    assert attend.Vocabulary(tmp_path / "again").bos == ours.bos
