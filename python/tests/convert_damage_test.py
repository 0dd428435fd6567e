"""attend.convert of models one of whose vocabularies or settings is cut, empty or another kind of file: one error, which names the file."""

import shutil

import attend
import pytest

attend.convert = pytest.importorskip("attend.convert")
for package in ("safetensors", "sentencepiece", "tokenizers", "torch", "transformers", "yaml"):
    pytest.importorskip(package)
import convert_opennmt_test as opennmt  # noqa: E402
import source_models  # noqa: E402
from attend.convert import _vocabulary  # noqa: E402
from bart_models import LANGUAGES  # noqa: E402


# What writes a model, and the files of it that are damaged.
SOURCES = {
    "marian": (source_models.write_marian, ["config.json", "vocab.json", "source.spm", "target.spm", "tokenizer_config.json", "generation_config.json"]),
    "bart": (source_models.family("bart"), ["tokenizer.json"]),
    "mbart": (source_models.family("mbart"), ["sentencepiece.bpe.model"]),
    "mbart50": (source_models.family("mbart50"), ["tokenizer.json", "tokenizer_config.json"]),
    "m2m100": (source_models.family("m2m100"), ["vocab.json", "sentencepiece.bpe.model"]),
    "nllb": (source_models.family("nllb"), ["tokenizer.json"]),
    "pegasus": (source_models.family("pegasus"), ["spiece.model"]),
    "t5": (source_models.write_t5, ["spiece.model", "tokenizer_config.json"]),
    "t5_json": (source_models.write_t5_json, ["tokenizer.json"]),
    "bert": (source_models.write_bert, ["tokenizer.json"]),
    "old_bert": (source_models.write_old_bert, ["vocab.txt"]),
    "old_roberta": (source_models.write_old_roberta, ["vocab.json", "merges.txt"]),
    "npz": (source_models.write_npz, ["vocab.spm"]),
    "npz_words": (source_models.write_npz_of_words, ["words.yml"]),
    "fairseq": (source_models.write_fairseq, ["dict.en.txt", "dict.de.txt"]),
    "eole": (lambda folder: opennmt.written(folder, "eole"), ["config.json", "vocab.json"]),
}


def damages(content):
    return {
        "half": content[: len(content) // 2], "a bit": content[:-3], "empty": b"", "[]": b"[]", "null": b"null", "text": b'"x"',
        "bytes": b"\xff\xfe" + content}


@pytest.mark.parametrize("name", SOURCES)
def test_the_damaged_file_is_named(name, tmp_path):
    write, files = SOURCES[name]
    write(tmp_path / "model")
    languages = dict(zip(("source_language", "target_language"), LANGUAGES.get(name, ())))
    for file in files:
        for damage, content in damages((tmp_path / "model" / file).read_bytes()).items():
            if (file, damage) == ("vocab.txt", "half"):  # a shorter list, of a model with rows to spare
                continue
            shutil.copytree(tmp_path / "model", tmp_path / "damaged")
            (tmp_path / "damaged" / file).write_bytes(content)
            with pytest.raises(attend.InputError) as raised:
                attend.convert.convert(tmp_path / "damaged", tmp_path / "out", **languages)
            told = str(raised.value)
            assert str(tmp_path / "damaged" / file) in told and len(told) < 400, (damage, told)
            assert "a file of it" not in told, (damage, told)
            assert damage not in ("[]", "null", "text") or not file.endswith(".json") or "expected a JSON object" in told, (damage, told)
            shutil.rmtree(tmp_path / "damaged")
    assert not (tmp_path / "out").exists()


def test_a_sentencepiece_model_that_ends_after_a_piece_is_cut(tmp_path):
    source_models.write_npz(tmp_path / "model")
    whole = (tmp_path / "model/vocab.spm").read_bytes()
    pieces = b"".join(field for number, _, field in _vocabulary.fields(whole) if number == 1)
    (tmp_path / "model/vocab.spm").write_bytes(pieces)
    with pytest.raises(attend.InputError, match="vocab.spm: not a whole SentencePiece model"):
        attend.convert.convert(tmp_path / "model", tmp_path / "out")


def test_half_a_large_vocabulary_is_not_the_model_s():
    tokens = [f"w{i}" for i in range(30_000)]
    assert len(_vocabulary.placeholders(tokens, 30_522, "here")) == 522
    with pytest.raises(attend.InputError, match="here: the tokenizer has 16000 tokens and the embedding 30522 rows; is it another model's"):
        _vocabulary.placeholders(tokens[:16_000], 30_522, "here")
