"""Trainings into languages that white space does not cut into words: BLEU must see words, or early stopping stops good runs."""

import json
import random

import pytest
import tiny_run
from sacrebleu.metrics import BLEU

ENGLISH = ["cat", "dog", "man", "woman", "bird", "child", "tree", "house", "river", "sun", "moon", "road"]
CHINESE = ["猫", "狗", "男人", "女人", "小鸟", "孩子", "大树", "房子", "河流", "太阳", "月亮", "道路"]
JAPANESE = ["ねこ", "いぬ", "おとこ", "おんな", "とり", "こども", "き", "いえ", "かわ", "太陽", "つき", "みち"]


def write_texts(folder, words, end):
    """Options of a training whose target text is `words` without white space."""
    generator = random.Random(5)
    options = {}
    for name, count in (("train", 400), ("valid", 40), ("test", 40)):
        numbers = [[generator.randrange(len(words)) for _ in range(6)] for _ in range(count)]
        texts = {"source": [" ".join(ENGLISH[i] for i in line) for line in numbers],
                 "target": ["".join(words[i] for i in line) + end for line in numbers]}
        for side, lines in texts.items():
            path = folder / f"{name}.{side}"
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            options[f"{name}_{side}"] = path
    return options | {
        "preset": "tiny", "vocab_size": 120, "threads": 2, "max_updates": 240, "validate_every": 80, "checkpoint_every": 240,
        "schedule": "inverse_sqrt", "peak_learning_rate": 0.005, "warmup_updates": 40, "batch_tokens": 1000, "encoder.layers": 1, "decoder.layers": 1, "beam_size": 1, "early_stopping_metric": "bleu", "early_stopping_patience": 2}


def tokenizer_of(output):
    result = json.loads((output / "result.json").read_text(encoding="utf-8"))
    return result["bleu"]["signature"].split("tok:")[1].split("|")[0], result


@pytest.mark.parametrize("languages", [["en", "zh"], ["en", "zh_Hant"], ["eng_Latn", "zho_Hans"], ["en", "ZH-cn"], None], ids=str)
def test_chinese_is_cut_into_characters(tmp_path, languages):
    """Validation took 13a, for which a Chinese line is one word: training stopped early at BLEU 0.00."""
    options = write_texts(tmp_path, CHINESE, "。") | ({"languages": languages} if languages else {})
    if languages != ["en", "zh"]:
        options |= {"max_updates": 4, "validate_every": 2, "checkpoint_every": 4}
    done = tiny_run.trained(options, tmp_path / "out")
    tokenizer, result = tokenizer_of(tmp_path / "out")
    assert tokenizer == "zh"
    assert "tokenizer" not in done.stderr
    outputs = (tmp_path / "out/test_output.txt").read_text(encoding="utf-8").splitlines()
    references = (tmp_path / "test.target").read_text(encoding="utf-8").splitlines()
    assert result["bleu"]["score"] == pytest.approx(BLEU(tokenize="zh").corpus_score(outputs, [references]).score, abs=0.006)
    assert "asian:yes" in result["ter"]["signature"]
    if languages == ["en", "zh"]:
        lines = (tmp_path / "out/metrics.jsonl").read_text(encoding="utf-8").splitlines()
        scores = [json.loads(line)["validation"]["bleu"] for line in lines if "validation" in line]
        assert len(scores) == 3 and scores[-1] > 10


def test_japanese_is_cut_into_characters_and_this_is_said_once(tmp_path):
    options = write_texts(tmp_path, JAPANESE, "。") | {"languages": ["en", "ja"], "max_updates": 4, "validate_every": 2, "checkpoint_every": 4}
    done = tiny_run.trained(options | {"quiet": None}, tmp_path / "out")
    assert tokenizer_of(tmp_path / "out")[0] == "char"
    assert done.stderr.count("BLEU cuts Japanese into characters") == 1


def test_a_tokenizer_of_ones_own_is_recorded(tmp_path):
    short = {"languages": ["en", "zh"], "max_updates": 4, "validate_every": 2, "checkpoint_every": 4}
    options = write_texts(tmp_path, CHINESE, "。") | short
    done = tiny_run.trained(options | {"tokenize": "13a"}, tmp_path / "out")
    assert tokenizer_of(tmp_path / "out")[0] == "13a" and "set tokenize to zh or auto" in done.stderr
    assert 'tokenize = "13a"' in (tmp_path / "out/config.toml").read_text(encoding="utf-8")
    refused = tiny_run.train(options | {"tokenize": "spm"}, tmp_path / "none")
    tiny_run.refused(refused, 2, "tokenize is spm", "tokenize_model")
    model = tmp_path / "out/source_vocab.spm"
    model = model if model.exists() else tmp_path / "out/vocab.spm"
    tiny_run.trained(options | {"tokenize": "flores200", "tokenize_model": model}, tmp_path / "spm")
    assert tokenizer_of(tmp_path / "spm")[0] == "flores200"


def test_tokenized_references_are_told(tmp_path):
    options = write_texts(tmp_path, ENGLISH, " .") | {"max_updates": 2, "validate_every": 2, "checkpoint_every": 2}
    stderr = tiny_run.trained(options, tmp_path / "out").stderr
    assert "validation text: 40 of 40 lines end in a tokenized period" in stderr
