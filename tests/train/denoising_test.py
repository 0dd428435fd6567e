"""Text to text: plain text with noise, alone and beside pairs; several tasks in one model; files mixed by their sizes."""

import json
import re
import subprocess

import numpy as np
import pytest
import ranks
import tiny_run

SHAPE = [f"{side}.{name}" for side in ("encoder", "decoder") for name in ("layers", "d_model", "heads", "d_ff")]


def validation(run):
    return [line["validation"] for line in tiny_run.metrics(run) if "validation" in line]


def translated(run, lines, *more):
    command = [tiny_run.ATTEND, "translate", "--model", run / "model", "--quiet", *more]
    return subprocess.run(command, input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=True).stdout.splitlines()


def alone(options):
    """Without pairs."""
    return options | {name: None for name in options if name.startswith(("train_source", "train_target", "valid_source", "valid_target"))}


@pytest.mark.parametrize("kind", ["spans", "infilling"])
def test_plain_text_alone_makes_a_model_to_fine_tune(options, kind, tmp_path):
    long = {"max_updates": 60, "validate_every": 20, "checkpoint_every": 60}
    tiny_run.trained(alone(tiny_run.denoised(options, tmp_path, kind)) | long, tmp_path / "first")
    found = validation(tmp_path / "first")
    assert set(found[0]) == {"loss", "perplexity"} and found[-1]["loss"] < found[0]["loss"]
    assert found[-1]["perplexity"] == pytest.approx(np.exp(found[-1]["loss"]))
    report = (tmp_path / "first/report.html").read_text(encoding="utf-8")
    assert {"spans": "extra_id_0", "infilling": "[MASK]"}[kind] in report
    subprocess.run([tiny_run.ATTEND, "verify", tmp_path / "first/model"], check=True, capture_output=True)
    tuned = options | {name: None for name in ["vocab", *SHAPE]} | long | {"init": tmp_path / "first/model"}
    tiny_run.trained(tuned, tmp_path / "second")
    assert set(validation(tmp_path / "second")[0]) >= {"loss", "perplexity", "bleu", "chrf", "exact_match"}
    first, second = (json.loads((tmp_path / run / "model/config.json").read_text(encoding="utf-8"))["model"] for run in ("first", "second"))
    assert first == second


def test_text_beside_pairs_is_judged_by_itself(options, tmp_path):
    both = tiny_run.denoised(options, tmp_path)
    tiny_run.trained(both, tmp_path / "both")
    found = validation(tmp_path / "both")
    assert set(found[0]) >= {"loss", "perplexity", "bleu", "denoising_loss"}
    # The same noise each time: where updates change nothing, only what is trained on does.
    still = both | {"peak_learning_rate": 1e-12, "max_updates": 4}
    tiny_run.trained(still, tmp_path / "still")
    losses = [each["denoising_loss"] for each in validation(tmp_path / "still")]
    assert len(losses) == 2 and losses[0] == pytest.approx(losses[1], rel=1e-6)
    first_losses = [line["loss"] for line in tiny_run.metrics(tmp_path / "still") if "loss" in line]
    assert len(set(first_losses)) == len(first_losses)


def test_noise_does_not_depend_on_threads_or_processes(options, tmp_path):
    """Nor on when windows are made."""
    for name, change in (("in memory", {}), ("streamed", {"stream": [], "shuffle_buffer": 31})):
        run = tiny_run.denoised(options, tmp_path) | {"threads": 1, "accumulate": 3, "validate_translations=false": []} | change
        tiny_run.trained(run | {"worker_threads": 1}, tmp_path / f"{name} one")
        tiny_run.trained(run | {"worker_threads": 3, "threads": 2}, tmp_path / f"{name} threads")
        ranks.trained(run, tmp_path / f"{name} two")
        losses = [[line["loss"] for line in tiny_run.metrics(tmp_path / f"{name} {kind}") if "loss" in line] for kind in ("one", "threads", "two")]
        np.testing.assert_allclose(losses[1], losses[0], rtol=1e-5)
        np.testing.assert_allclose(losses[2], losses[0], rtol=1e-5)


def test_a_prefix_tells_which_task_it_is(options, tmp_path):
    """The same text is translated after one prefix and copied after another."""
    source, target = options["train_source"], options["train_target"]
    tasks = options | {
        "train_source": [source, source], "train_target": [target, source], "train_prefixes": ["german: ", "english: "],
        "valid_prefixes": ["german: "], "test_source": options["valid_source"], "test_target": options["valid_source"],
        "test_prefixes": ["english: "], "max_updates": 1000, "validate_every": 1000, "checkpoint_every": 1000, "dropout": 0, "ema_decay": 0,
        "batch_tokens": 400, "average_last": 1, "max_length_ratio": 0}
    tasks |= {f"{side}.{name}": value for side in ("encoder", "decoder") for name, value in (("d_model", 32), ("d_ff", 64))}
    tiny_run.trained(tasks, tmp_path / "run")
    german = options["valid_target"].read_text(encoding="utf-8").splitlines()
    english = options["valid_source"].read_text(encoding="utf-8").splitlines()

    def right(found, wanted):
        return sum(one == other for one, other in zip(found, wanted, strict=True)) / len(wanted)

    as_german = translated(tmp_path / "run", english, "--prefix", "german: ")
    assert right(as_german, german) > 0.6
    assert right(translated(tmp_path / "run", english, "--prefix", "english: "), english) > 0.6
    assert as_german == translated(tmp_path / "run", ["german: " + line for line in english])
    # A line without text stays so.
    assert translated(tmp_path / "run", ["...", ""], "--prefix", "german: ") == ["...", ""]
    result = json.loads((tmp_path / "run/result.json").read_text(encoding="utf-8"))
    assert result["exact_match"]["score"] > 60 and result["exact_match"]["signature"] == "nrefs:1|case:mixed"
    assert validation(tmp_path / "run")[-1]["exact_match"] > 60
    # Words are counted without it.
    links = translated(tmp_path / "run", english[:1], "--prefix", "german: ", "--alignments")[0].split("|||")[1]
    words = len(english[0].split())
    assert all(0 <= int(link.split("-")[0]) < words for link in links.split())


def test_files_are_mixed_by_their_sizes(options, tmp_path):
    """160 pairs, 200 and 100 lines of text: by their square roots, and limited to 100."""
    mixed = tiny_run.denoised(options, tmp_path) | {"mixing_temperature": 2, "dry_run": [], "quiet": None}
    roots = np.sqrt([160, 200, 100])
    told = tiny_run.trained(mixed, tmp_path / "none").stderr
    found = re.findall(r"mixing: ([\d.]+) % of an epoch are of '[^']*', (\d+) lines ([\d.]+) times", told)
    assert [int(lines) for _, lines, _ in found] == [160, 200, 100]
    assert [float(share) for share, _, _ in found] == pytest.approx(list(100 * roots / sum(roots)), abs=0.006)
    assert [float(times) for _, _, times in found] == pytest.approx(list(460 * roots / sum(roots) / [160, 200, 100]), rel=1e-3)
    told = tiny_run.trained(mixed | {"mixing_temperature": 1, "mixing_limit": 100}, tmp_path / "none").stderr
    assert re.findall(r"mixing: ([\d.]+) %", told) == ["33.33"] * 3


def test_long_lines_of_text_are_cut(options, tmp_path):
    denoised = tiny_run.denoised(options, tmp_path)
    (tmp_path / "long.txt").write_text("one two three " * 200 + "\n", encoding="utf-8")
    run = denoised | {"train_text": tmp_path / "long.txt", "dry_run": [], "max_length": 40}
    told = json.loads(tiny_run.trained(run | {"json": []}, tmp_path / "none").stdout)
    assert told["train_lines"]["too_long"]["count"] == 0
    assert told["train_lines"]["tokens"][0] > 600


@pytest.mark.parametrize(("change", "status", "part"), [
    ({"objective": "translation"}, 2, "train_text is given, but objective is translation; set objective to denoising"),
    ({"train_text": None}, 2, "objective = denoising needs train_text"),
    ({"train_target": None}, 2, "train_source is given without train_target; give both"),
    ({"joint_vocab=false": []}, 2, "objective = denoising needs one vocabulary for both sides"),
    ({"permute_sentences": []}, 2, "permute_sentences needs denoising = infilling"),
    ({"train_prefixes": ["a ", "b "]}, 2, "train_prefixes holds 2 texts for 1 files of train_source, expected one for each"),
    ({"train_weights": [1]}, 2, "train_weights holds 1 numbers for 3 files of train_source and train_text, expected one for each"),
    ({"train_weights": [1, 1, 1], "mixing_temperature": 2}, 2, "mixing_temperature computes what train_weights gives; leave one out"),
    ({"mixing_limit": 10}, 2, "mixing_limit is given without mixing_temperature"),
    ({"objective": "translation", "train_text": None, "valid_text": None, "early_stopping_metric": "loss", "mixing_temperature": 2}, 2,
     "mixing_temperature mixes the files of training, and there is one"),
    ({"noise_density": 0.95}, 2, "noise-density"),
    ({"sentinels": 1}, 2, "denoising = spans needs sentinels, <extra_id_0> and so on, of which the vocabulary has 1, expected 2 or more"),
    ({"early_stopping_metric": "denoising_loss", "valid_text": None}, 2, "needs valid_text beside valid_source"),
    ({"train_text": "gone.txt"}, 3, "gone.txt"),
    ({"train_text": "-"}, 2, "train_text is '-', expected a file"),
])
def test_what_does_not_go_together_is_refused(options, change, status, part, tmp_path):
    run = tiny_run.denoised(options, tmp_path) | change
    tiny_run.refused(tiny_run.train(run, tmp_path / "out"), status, part)
    assert not (tmp_path / "out").exists()


def test_a_given_vocabulary_must_have_the_marks(options, tmp_path):
    denoised = tiny_run.denoised(options, tmp_path) | {"vocab": options["vocab"], "vocab_size": None, "vocab_type": None, "sentinels": None}
    tiny_run.refused(tiny_run.train(denoised, tmp_path / "out"), 2, "has 0, expected 2 or more; make one with `attend vocab --sentinels 100`")
    infilling = denoised | {"denoising": "infilling"}
    tiny_run.refused(tiny_run.train(infilling, tmp_path / "out"), 2, "needs a [MASK] token", "make one with `attend vocab --mask`")
    metric = alone(denoised) | {"early_stopping_metric": "bleu"}
    tiny_run.refused(tiny_run.train(metric, tmp_path / "out"), 2, "early_stopping_metric is bleu, which needs valid_source and valid_target")
    # What a run makes itself has them, unless it is told otherwise.
    tiny_run.trained(tiny_run.denoised(options, tmp_path) | {"vocab_size": 165, "sentinels": None, "max_updates": 2}, tmp_path / "made")
    assert b"<extra_id_99>" in (tmp_path / "made/vocab.spm").read_bytes()
