"""The stub: it holds every option with its type and default, and mypy reads it."""

import inspect
import os
import re
import subprocess
import sys

import attend
import pytest
from package import PACKAGE, program

RIGHT = """
import pathlib

import attend

translator = attend.Translator("model", threads=2, type="int8")
one: attend.Translation = translator.translate("a", beam_size=2, length_penalty=1)
many: list[attend.Translation] = translator.translate(["a", "b"], n_best=2, alignments=True)
score: float = one.hypotheses[0].score + translator.score("a", "b").log_probability
text: str = one + " ".join(translator.translate_lines(attend.read_lines("lines.gz")))
mean: float = float(translator.attention("a").cross.mean()) + attend.bleu(["a"], [["b"]], tokenize="zh")
ids: list[int] = attend.Vocabulary("vocab.spm").encode(one)
terms = attend.Glossary([("a", "b"), ("c", "", "keep")])
held: int = translator.translate("a", glossary=terms).hypotheses[0].terms_kept + len(attend.Glossary(pathlib.Path("terms.tsv")))
matches: list[attend.MemoryMatch] = attend.TranslationMemory("a.tmx", source="en").find("a", memory_threshold=50)
close: float = attend.TranslationMemory.of([("a", "b")]).find("a")[0].score + len(attend.TranslationMemory("a.tsv"))
remembered: str = translator.translate("a", memory=attend.TranslationMemory("a.tmx"), memory_exact=False) + "".join(translator.languages)
sure: float | None = translator.translate("a", quality=True).quality
attend.quantize("model", "int8")
first: int = attend.extend("model", [">>de<<"], "more")
generator = attend.Generator("model", threads=2)
written: attend.Generation = generator.generate("a", max_tokens=9, stop=["b", "c"], temperature=0.5)
several: list[attend.Generation] = generator.generate(["a", "b"], n=3, top_k=5)
whole: str = written + "".join(generator.stream("a", seed=7)) + several[0].outputs[1].text
likely: float = generator.score("a", stride=4).log_probability + generator.score(["a"])[0].token_log_probabilities[0]
any_of: attend.Translator | attend.Generator | attend.Tagger | attend.Parser | attend.Classifier | attend.ItemClassifier | attend.Encoder | attend.Transcriber = attend.load("model", type="f32")
tagged: attend.TaggedText = attend.Tagger("model", threads=2).tag("a")
entity: str = attend.Tagger("model").tag(["a"])[0].entities[0].label
words: list[attend.LabelledText] = [*attend.Tagger("model").tag_words(["a", "b"]).words]
sentences: list[attend.TaggedText] = attend.Tagger("model").tag_words([["a", "b"], ["c"]])
looks: attend.TextAttention = attend.Classifier("model").attention("a")
heads: int = generator.attention("a").weights.shape[1] + attend.Encoder("model").attention("a").weights.shape[1] + len(looks.pieces)
patches: attend.InputAttention = attend.Classifier("model").picture_attention("a.png")
seen: attend.ItemAttention = attend.ItemClassifier("model").attention({"text": "a"})
shares: int = patches.heads.shape[0] + seen.of("picture").rollout.shape[0]
heard: attend.RecordingAttention = attend.Transcriber("model").attention("a.wav")[0]
label: str = attend.Classifier("model").classify("a").label
encoder = attend.Encoder("model", threads=2)
token: str = encoder.fill("a [MASK]", top=3).masks[0][0].token + encoder.fill(["[MASK]"])[0].text
begins: bool = all(best.begins_word and best.probability > 0 for best in encoder.fill("[MASK]").masks[0])
length: float = float((encoder.embed(["a", "b"], normalize=True) @ encoder.embed("a", pooling="first")).sum())
likeness: float = float((encoder.embed_pictures(["a.png", b""]) @ encoder.embed("a")).sum())
said: str = attend.Transcriber("model", threads=2).transcribe(["a.wav"])[0].text
spoken: float = attend.Transcriber("model").transcribe(["a.wav"], word_times=True)[0].segments[0].words[0].begin
run: attend.Training = attend.train("a.toml", output=pathlib.Path("b"), max_updates=7, stream=True, train_weights=[1, 0.5], seed=None, mlflow="file:///a")
losses: list[float] = [run.best.figures["loss"] if run.best else run.seconds, run.history[0]["loss"]]
page: str = attend.translate_html(translator, "<b>a</b>", beam_size=2) + "".join(attend.translate_html(translator, ["a", "b"]))
count: int = attend.translate_file(translator, pathlib.Path("a.docx"), "b.docx", target_language="de")
cut: int = attend.translate_file(translator, "a.docx", "b.docx").counts.cut + attend.translate_html(translator, "a").translations[0].unknown_characters
trained: attend.Translator | attend.Generator | attend.Tagger | attend.Parser | attend.Classifier | attend.ItemClassifier | attend.Encoder | attend.Transcriber = run.load()
"""
WRONG = [
    'attend.Translator("model", type="int4")',
    'attend.Translator("model").translate("a", beam_sise=2)',
    'attend.Translator("model").translate("a", beam_size="2")',
    'attend.Translator("model").translate(7)',
    'attend.Glossary(["a"])',
    'attend.Generator("model").generate("a", max_token=9)',
    'attend.Generator("model").generate("a", stop=7)',
    'attend.Tagger("model").tag(7)',
    'attend.Tagger("model").tag_words(7)',
    'attend.Tagger("model").attention(["a"])',
    'attend.Encoder("model").embed("a", pooling=7)',
    'attend.load("model").generate("a")',
    'attend.bleu(["a"], ["b"], tokenize="13b")',
    'attend.translate_html(translator, 7)',
    'attend.translate_file(translator, "a.docx")',
    'attend.train(7)',
    'attend.train(quiet="a")',
    'attend.train(dropout=object())',
    'attend.train("a").best.figures',
]
RIGHT_OF_TORCH = """
import attend.torch
import torch

model: attend.torch.Transformer = attend.torch.load("model")
states: torch.Tensor = model.hidden(torch.ones(1, 2), torch.ones(1, 3))
layers: int = model.config.encoder.layers
"""
WRONG_OF_TORCH = ['attend.torch.load(7)', 'model.hidden("a")']


def mypy(folder, code):
    (folder / "use.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", f"--cache-dir={os.devnull}", "use.py"], cwd=folder, text=True,
        env={**os.environ, "MYPYPATH": str(PACKAGE)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1200, check=False)
    return done.stdout


def check(folder, right, wrong):
    """Each line of `wrong` has an error, and none of `right`."""
    found = mypy(folder, right + "\n".join(wrong))
    # A str is an iterable of str too: the overload for it stands first on purpose.
    errors = [line for line in found.splitlines() if "error:" in line and "[overload-overlap]" not in line]
    lines = {f"use.py:{number}" for number, _ in enumerate(wrong, right.count("\n") + 1)}
    assert {error.split(": ")[0] for error in errors} == lines, found


def test_mypy_reads_the_stub(tmp_path):
    check(tmp_path, RIGHT, WRONG)


def test_mypy_reads_the_model_for_torch(tmp_path):
    pytest.importorskip("torch")
    check(tmp_path, RIGHT_OF_TORCH, WRONG_OF_TORCH)


def test_signatures_hold_the_program_s_options():
    stub = (PACKAGE / "attend/_attend.pyi").read_text(encoding="utf-8")
    help_text = inspect.getdoc(attend.Translator.translate)
    options = re.findall(r"^\| `--([\w.-]+)` ", program("translate", "--help-markdown"), flags=re.M)
    search = options[options.index("beam-size"):options.index("batch-tokens") + 1]
    assert len(search) > 5
    for option in search:
        name = option.replace("-", "_")
        assert f" {name}: " in stub and f" {name}: " in help_text
    assert "beam_size: int = 4, length_penalty: float = 0.6" in stub
    assert "type: Literal['stored', 'f32', 'int8'] = 'stored'" in stub
