"""Adapters of imported translation models: trained beside them, verified with them, merged to the same bits."""

import random

import attend
import pytest
import tiny_run
from package import program

attend.convert = pytest.importorskip("attend.convert")
for package in ("safetensors", "sentencepiece", "tokenizers", "torch", "transformers", "yaml"):
    pytest.importorskip(package)
import convert_fairseq_test as fairseq  # noqa: E402
import source_models  # noqa: E402
from bart_models import LANGUAGES, sentences  # noqa: E402

pytestmark = pytest.mark.skipif(not tiny_run.TRAIN.exists(), reason="the build does not train")
WRITERS = {
    "marian": source_models.write_marian, "npz": source_models.write_npz, "ssru": lambda folder: source_models.write_npz(folder, "ssru"),
    "t5": source_models.write_t5, "fairseq": source_models.write_fairseq,
    **{name: source_models.family(name) for name in ("bart", "mbart50", "m2m100")}}


def texts(name, count, seed):
    """Of tokens between spaces, where the model has no SentencePiece model."""
    if name != "fairseq":
        return sentences(count, seed)
    numbers = random.Random(seed)
    return [" ".join(numbers.sample(fairseq.WORDS, 6)) for _ in range(count)]


@pytest.mark.parametrize("name", WRITERS)
def test_adapters_of_what_is_imported(name, tmp_path):
    WRITERS[name](tmp_path / "source")
    model, run = tmp_path / "model", tmp_path / "run"
    attend.convert.convert(tmp_path / "source", model, **dict(zip(("source_language", "target_language"), LANGUAGES.get(name, ()))))
    for side, seed in (("source", 5), ("target", 6)):
        (tmp_path / f"text.{side}").write_text("".join(line + "\n" for line in texts(name, 30, seed)), encoding="utf-8")
    text = {f"{part}_{side}": tmp_path / f"text.{side}" for part in ("train", "valid") for side in ("source", "target")}
    tiny_run.trained(text | {
        "init": model, "adapter.rank": 2, "schedule": "inverse_sqrt", "peak_learning_rate": 0.01, "warmup_updates": 1, "max_updates": 2,
        "batch_tokens": 400, "max_length": 60, "threads": 1}, run)
    assert "within" in program("verify", model, "--adapter", run / "adapter")
    program("export", "--adapter", run / "adapter", "--model", model, "--output", tmp_path / "merged", "--quiet")
    lines = texts(name, 6, 7)
    plain, merged = attend.Translator(model), attend.Translator(tmp_path / "merged")
    beside = attend.Translator(model, adapter=run / "adapter")
    scores = [[score.token_log_probabilities for score in translator.score(lines, lines)] for translator in (plain, merged, beside)]
    assert scores[1] == scores[2] != scores[0]
