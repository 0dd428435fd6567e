"""A student that learns from a teacher while it trains, and products rounded as int8 rounds them."""

import json
import subprocess

import pytest
import tiny_run

SHAPE = {f"{side}.{name}": None for side in ("encoder", "decoder") for name in ("layers", "d_model", "heads", "d_ff")}
EXACT = {"dropout": 0, "report_every": 1, "validate_every": 4, "average_last": 1, "ema_decay": 0}


@pytest.fixture(name="teacher", scope="module")
def train_teacher(options, tmp_path_factory):
    output = tmp_path_factory.mktemp("teacher") / "run"
    tiny_run.trained(options | {"max_updates": 60, "validate_every": 60, "checkpoint_every": 60}, output)
    return output / "model"


def losses(output):
    return [line["loss"] for line in tiny_run.metrics(output) if "loss" in line]


def student(options):
    """Another shape than the teacher's, with a recurrence in place of self-attention."""
    return options | {"encoder.layers": 2, "encoder.d_model": 12, "decoder.d_model": 12, "decoder.recurrence": "ssru"}


def test_a_copy_of_the_teacher_has_nothing_to_learn_from_it(options, teacher, tmp_path):
    """KL(teacher || student) is 0 then, and the rest of the loss that of a training without a teacher."""
    copy = options | SHAPE | EXACT | {"vocab": None, "init": teacher, "max_updates": 1, "checkpoint_every": 1}
    tiny_run.trained(copy, tmp_path / "alone")
    alone = losses(tmp_path / "alone")[0]
    assert alone > 0.1
    for weight, temperature in ((1, 1), (0.25, 1), (0.5, 3)):
        output = tmp_path / f"{weight}-{temperature}"
        tiny_run.trained(copy | {"teacher": teacher, "distillation_weight": weight, "distillation_temperature": temperature}, output)
        assert losses(output)[0] == pytest.approx((1 - weight) * alone, abs=1e-4)


def test_a_student_comes_closer_to_its_teacher(options, teacher, tmp_path):
    taught = student(options) | EXACT | {"teacher": teacher, "distillation_weight": 1, "max_updates": 60, "validate_every": 60, "checkpoint_every": 60}
    tiny_run.trained(taught, tmp_path / "run")
    found = losses(tmp_path / "run")
    assert 0 < found[-1] < 0.3 * found[0]  # of the divergence alone
    subprocess.run([tiny_run.ATTEND, "verify", tmp_path / "run/model"], check=True, capture_output=True)
    config = json.loads((tmp_path / "run/model/config.json").read_text(encoding="utf-8"))
    assert config["model"]["decoder"]["recurrence"] == "ssru"


def test_without_a_teacher_its_options_are_told_to_do_nothing(options, tmp_path):
    few = student(options) | {"max_updates": 2, "validate_every": 2, "quiet": None}
    told = "distillation_weight and distillation_temperature count only with teacher"
    assert told in tiny_run.trained(few | {"distillation_weight": 0.7}, tmp_path / "given").stderr
    assert told not in tiny_run.trained(few, tmp_path / "none").stderr


def test_a_killed_student_goes_on_to_the_same_bytes(options, teacher, tmp_path):
    taught = student(options) | {"teacher": teacher, "distillation_temperature": 2, "quantization_aware": [], "max_updates": 120, "validate_every": 40, "checkpoint_every": 5}
    tiny_run.trained(taught, tmp_path / "unbroken/run")
    tiny_run.trained_though_killed(taught, tmp_path / "killed/run", 20)
    tiny_run.assert_same(tmp_path / "killed/run", tmp_path / "unbroken/run")


def test_a_run_does_not_go_on_with_another_teacher(options, teacher, tmp_path):
    taught = student(options) | {"teacher": teacher}
    tiny_run.trained(taught, tmp_path / "run")
    tiny_run.trained(options | {"seed": 5}, tmp_path / "other")
    done = tiny_run.train(taught | {"teacher": tmp_path / "other/model", "max_updates": 16}, tmp_path / "run")
    assert done.returncode != 0 and "teacher" in done.stderr.splitlines()[-1]


def test_what_does_not_go_together_is_refused(options, teacher, tmp_path):
    taught = student(options) | {"teacher": teacher}
    other = ["vocab", "--input", options["train_source"], options["train_target"], "--size", "40", "--type", "unigram", "--quiet", "--output", tmp_path / "other.spm"]
    subprocess.run([tiny_run.ATTEND, *other], check=True)
    subprocess.run([tiny_run.ATTEND, "quantize", teacher, "--output", tmp_path / "int8", "--quiet"], check=True, capture_output=True)
    tiny_run.trained(options | {"right_to_left": [], "max_updates": 1, "validate_every": 1, "checkpoint_every": 1}, tmp_path / "turned")
    tiny_run.trained(options | {"languages": ["en", "de"], "max_updates": 1, "validate_every": 1, "checkpoint_every": 1}, tmp_path / "named")
    for change, status, part in [
        ({"teacher": tmp_path / "turned/model"}, 3, f"'{tmp_path}/turned/model' writes from right to left, expected the order of the student (right_to_left)"),
        ({"right_to_left": []}, 3, f"'{teacher}' writes from left to right"),
        ({"teacher": tmp_path / "named/model", "languages": ["de", "en"]}, 3, "translates from en to de, expected from de to en, the student's languages"),
        ({"vocab": tmp_path / "other.spm"}, 3, f"'{teacher}' has other vocabularies than the student, expected the same; set vocab to '{teacher}/vocab.spm'"),
        ({"vocab": None, "vocab_size": 60}, 2, f"set vocab to '{teacher}/vocab.spm'"),
        ({"r_drop": 1}, 2, "teacher and r_drop exclude each other"),
        ({"teacher": tmp_path / "int8"}, 3, "has int8 weights; name the f32 model"),
        ({"teacher": tmp_path / "gone"}, 3, tmp_path / "gone"),
        ({"distillation_weight": 1.5}, 2, "distillation_weight is 1.5, expected a number, 0 to 1"),
        ({"quantization_aware": [], "init": teacher, "vocab": None, "adapter.rank": 2, **SHAPE, "decoder.recurrence": None}, 2, "leave adapter.rank out"),
    ]:
        tiny_run.refused(tiny_run.train(taught | change, tmp_path / "run"), status, str(part))
