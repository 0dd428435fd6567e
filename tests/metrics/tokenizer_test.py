"""The tokenizer that `attend evaluate` chooses, beside the real sacrebleu's, and what is said of texts that do not fit it."""

import json
import os

import pytest
import sentencepiece
from evaluate_test import run, same_score, write
from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers import tokenizer_spm

CHINESE = ["我们今天去公园散步。", "他说：“你好，世界！”", "北京是中国的首都。"]
WORSE = ["我们今天去公园跑步。", "他说：“你好世界！”", "北京是中国首都。"]
JAPANESE = ["私たちは今日公園へ行きます。", "これは本です。"]
ENGLISH = ["The cat sat on the mat.", "Where is 3.5 percent of it?"]


def evaluate(folder, hypotheses, references, *options):
    files = ["--hypothesis", write(folder / "output", hypotheses), "--reference", write(folder / "reference", references)]
    done = run(*files, "--width", 9, "--json", *options)
    return json.loads(done.stdout), done.stderr.decode()


@pytest.mark.parametrize("language,tokenizer", [
    ("zh", "zh"), ("ZH", "zh"), ("zh-CN", "zh"), ("zh_Hant", "zh"), ("zho_Hans", "zh"), ("cmn", "zh"), ("gan", "zh"), ("yue-HK", "zh"), ("__zh__", "zh"),
    ("ja", "char"), ("jpn_Jpan", "char"), ("ko-KR", "char"), ("th", "char"), ("my", "char"), ("km_KH", "char"), ("lo", "char"),
    ("en", "13a"), ("de-AT", "13a"), ("zhx", "13a"), ("", "13a"), ("vi", "13a")])  # fmt: skip
def test_the_language_decides(tmp_path, language, tokenizer):
    answer, _ = evaluate(tmp_path, WORSE, CHINESE, "--language", language)
    same_score(answer["bleu"], BLEU(tokenize=tokenizer), WORSE, [CHINESE])


def test_characters_are_told_once(tmp_path):
    stderr = evaluate(tmp_path, JAPANESE, JAPANESE, "--language", "ja")[1]
    assert stderr.count("BLEU cuts Japanese into characters") == 1
    assert evaluate(tmp_path, JAPANESE, JAPANESE, "--language", "ja", "--tokenize", "char")[1] == ""


def test_text_that_13a_does_not_cut_is_told(tmp_path):
    assert "the references are Chinese" in evaluate(tmp_path, WORSE, CHINESE)[1]
    assert "set language to ja, or tokenize to char" in evaluate(tmp_path, JAPANESE, JAPANESE)[1]
    assert "set tokenize to zh or auto" in evaluate(tmp_path, WORSE, CHINESE, "--language", "zh", "--tokenize", "13a")[1]
    assert "--ter.asian-support" in evaluate(tmp_path, WORSE, CHINESE, "--language", "zh", "--metrics", "ter")[1]
    asian = ["--metrics", "ter", "--ter.normalized", "--ter.asian-support"]
    assert evaluate(tmp_path, WORSE, CHINESE, "--language", "zh", *asian)[1] == ""
    for options in (["--language", "zh"], ["--tokenize", "zh"], ["--metrics", "chrf"]):
        assert evaluate(tmp_path, WORSE, CHINESE, *options)[1] == "", options
    assert evaluate(tmp_path, ENGLISH, ENGLISH)[1] == ""


@pytest.mark.parametrize("lines,count,warns", [(200, 100, True), (5000, 100, True), (5000, 99, False), (4, 2, True), (5, 2, False), (3, 0, False)])
def test_tokenized_text_is_told(tmp_path, lines, count, warns):
    text = ["a good line ."] * count + ["a good line."] * (lines - count)
    for tokenizer, expected in (("13a", warns), ("none", False)):
        stderr = evaluate(tmp_path, text, ["a good line."] * lines, "--tokenize", tokenizer)[1]
        assert (f"output: {count} of {lines} lines end in a tokenized period (' .')" in stderr) == expected


@pytest.fixture(name="model", scope="module")
def train_model(tmp_path_factory):
    """A SentencePiece model that no attend made."""
    folder = tmp_path_factory.mktemp("spm")
    text = write(folder / "text", (CHINESE + WORSE + JAPANESE + ENGLISH) * 20)
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "made"), vocab_size=110, hard_vocab_limit=False, minloglevel=2)
    return folder / "made.model"


@pytest.mark.parametrize("name", ["flores101", "flores200", "spm", "spBLEU-1K"])
def test_pieces_as_sacrebleu_cuts_them(tmp_path, monkeypatch, model, name):
    (tmp_path / "models").mkdir()
    file = os.path.basename(tokenizer_spm.SPM_MODELS[name]["url"])
    (tmp_path / "models" / file).write_bytes(model.read_bytes())
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    references = CHINESE + ENGLISH + ["", " ", "ﬁne ①  two\u3000wide", "x" * 3000, "\ufffd\u200b a\u0301"]
    hypotheses = WORSE + ["The cat sat.", "Where is 3.50 % of it?", "a", "", "fine 1 two wide", "x" * 2999, "\u00e1"]
    for lowercase in (False, True):
        options = ["--tokenize", name, "--tokenize-model", model] + ["--lowercase"] * lowercase
        answer, _ = evaluate(tmp_path, hypotheses, references, *options)
        expected = BLEU(tokenize=name, lowercase=lowercase)
        if name == "spm":  # any model: its digest tells which
            signature = answer["bleu"]["signature"]
            assert "|tok:spm[" in signature
            answer["bleu"]["signature"] = signature[: signature.index("spm[")] + "flores101" + signature[signature.index("]") + 1 :]
        same_score(answer["bleu"], expected, hypotheses, [references])


def test_what_does_not_go_together_is_refused(tmp_path, model):
    files = ["--hypothesis", write(tmp_path / "output", ["a"]), "--reference", write(tmp_path / "reference", ["a"])]
    refused = [(["--tokenize", "flores200"], 2, "tokenize is flores200, which needs tokenize_model"),
               (["--tokenize", "zh", "--tokenize-model", model], 2, "but tokenize is zh"),
               (["--language", "en", "--tokenize-model", model], 2, "tokenize is 13a"),
               (["--tokenize", "spm", "--tokenize-model", tmp_path / "output"], 3, "expected a SentencePiece model"),
               (["--tokenize", "spm", "--tokenize-model", tmp_path / "missing"], 3, "missing")]  # fmt: skip
    for options, status, message in refused:
        stderr = run(*files, *options, status=status).stderr.decode()
        assert message in stderr and stderr.count("\n") == 1
