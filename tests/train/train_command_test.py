"""`attend train` and `attend export` as a user sees them: results, logs, errors, and what bad luck leaves behind."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess

import numpy as np
import pytest
import tiny_run
from numpy_transformer import read_safetensors
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import api_pb2, metadata as hparams, plugin_data_pb2

ATTEND, TRAIN = tiny_run.ATTEND, tiny_run.TRAIN


@pytest.fixture(name="run", scope="module")
def learn(options, tmp_path_factory):
    """A run long enough to learn the task, with a test set."""
    output = tmp_path_factory.mktemp("run") / "out"
    longer = options | {
        "max_updates": 150,
        "validate_every": 50,
        "checkpoint_every": 50,
        "average_last": 3,
        "ema_decay": None,
        "dropout": 0,
        "test_source": options["valid_source"],
        "test_target": options["valid_target"],
        "languages": ["en", "de"],
    }
    return output, longer, tiny_run.trained(longer, output)


def test_loss_goes_down_and_the_test_set_is_scored(run):
    output, _, _ = run
    losses = [line["loss"] for line in tiny_run.metrics(output) if "validation" not in line]
    assert len(losses) == 150 and np.mean(losses[-10:]) < 0.6 * np.mean(losses[:10])
    result = json.loads((output / "result.json").read_text(encoding="utf-8"))
    assert result["bleu"]["score"] >= 0 and "tok:13a" in result["bleu"]["signature"]
    assert 0 <= result["cut"] <= 12
    assert len((output / "test_output.txt").read_text(encoding="utf-8").splitlines()) == 12
    validations = [line["validation"] for line in tiny_run.metrics(output) if "validation" in line]
    assert [set(line) for line in validations] == [{"loss", "perplexity", "bleu", "chrf", "exact_match", "cut"}] * 3


def test_progress_tells_speed_and_time_left(options, tmp_path):
    command = tiny_run.command_line(options | {"report_every": 4, "peak_flops": 1e9}, tmp_path / "out")
    command.remove("--quiet")
    done = subprocess.run(command, env=tiny_run.environment(), capture_output=True, text=True, check=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("update ")]
    assert len(lines) == 3
    for line in lines:
        assert re.fullmatch(
            r"update \d+/12  epoch \d+  loss \d+\.\d{4}  lr \S+  \d+ target tokens/s  "
            r"\d+\.\d GFLOP/s \(\d+\.\d % of the peak\)  \d+m\d\ds left",
            line,
        ), line


def test_result_is_what_the_commands_give(run, options):
    output, _, _ = run
    translated = subprocess.run(
        [ATTEND, "translate", "--model", output / "model", "--input", options["valid_source"], "--beam-size", "2"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert translated.stdout == (output / "test_output.txt").read_text(encoding="utf-8")


def test_model_is_the_mean_of_the_last_checkpoints(run):
    output, _, _ = run
    checkpoints = sorted((output / "checkpoints").iterdir())
    assert [path.name for path in checkpoints] == [f"update-{update:010}" for update in (50, 100, 150)]
    each = [read_safetensors(path / "weights.safetensors") for path in checkpoints]
    model = read_safetensors(output / "model" / "model.safetensors")
    assert set(model) == set(each[0])
    for name, values in model.items():
        mean = np.mean([tensors[name].astype(np.float64) for tensors in each], axis=0)
        assert np.array_equal(values, mean.astype(np.float32)), name
    # Only the newest two can be gone on from; the third has what averaging needs.
    assert [(path / "optimizer.safetensors").exists() for path in checkpoints] == [False, True, True]


def test_export_takes_checkpoints_or_a_run(run, tmp_path):
    output, _, _ = run
    subprocess.run([ATTEND, "export", "--checkpoint", output, "--output", tmp_path / "one"], check=True, capture_output=True)
    newest = read_safetensors(output / "checkpoints" / "update-0000000150" / "weights.safetensors")
    one = read_safetensors(tmp_path / "one" / "model.safetensors")
    assert all(np.array_equal(one[name], newest[name]) for name in newest)
    # Samples of a model that still dropped some of its activations would not be the engine's.
    assert json.loads((tmp_path / "one" / "samples.json").read_text(encoding="utf-8"))
    subprocess.run([ATTEND, "verify", tmp_path / "one"], check=True, capture_output=True)
    everything = sorted((output / "checkpoints").iterdir())
    subprocess.run([ATTEND, "export", "--checkpoint", *everything, "--output", tmp_path / "all"], check=True, capture_output=True)
    for name in ("model.safetensors", "config.json", "samples.json", "vocab.spm"):
        assert (tmp_path / "all" / name).read_bytes() == (output / "model" / name).read_bytes(), name
    config = (output / "model" / "config.json").read_text(encoding="utf-8")
    assert str(output) not in config and "/tmp" not in config
    provenance = json.loads(config)["provenance"]
    state = json.loads((everything[-1] / "state.json").read_text(encoding="utf-8"))
    assert provenance["averaged_updates"] == [50, 100, 150] and provenance["target_tokens"] == state["target_tokens"]


def test_export_refuses_what_is_no_checkpoint(run, tmp_path):
    done = subprocess.run(
        [ATTEND, "export", "--checkpoint", run[0] / "model", "--output", tmp_path / "m"], capture_output=True, text=True, check=False
    )
    tiny_run.refused(done, 3, "is not a checkpoint")
    assert not (tmp_path / "m").exists()


def average(output, *checkpoints):
    command = [ATTEND, "export", "--checkpoint", *checkpoints, "--output", output, "--json"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_export_refuses_to_average_two_runs(options, tmp_path):
    short = options | {"max_updates": 2}
    tiny_run.trained(short, tmp_path / "one")
    others = {"seed": (2, "seed was 1, now 2"), "dropout": (0.1, "dropout was 0.2, now 0.1"), "batch_tokens": (80, "batch_tokens was 96")}
    for name, (value, difference) in others.items():
        tiny_run.trained(short | {name: value}, tmp_path / name)
        done = average(tmp_path / "m", tmp_path / "one", tmp_path / name)
        tiny_run.refused(done, 3, "is of another run than", difference, "only checkpoints of one run can be averaged")
        assert not (tmp_path / "m").exists()


def test_export_averages_a_run_that_went_on_with_other_options(options, tmp_path):
    output = tmp_path / "run"
    tiny_run.trained(options | {"max_updates": 2}, output)
    tiny_run.trained(options | {"max_updates": 4, "dropout": 0.1}, output)
    tiny_run.trained(options | {"max_updates": 5, "dropout": 0.1}, tmp_path / "other")
    checkpoints = sorted((output / "checkpoints").iterdir())
    done = average(tmp_path / "m", *reversed(checkpoints))
    assert json.loads(done.stdout) == {"model": str(tmp_path / "m"), "averaged_updates": [4, 2]}
    # The same options, but none that the first one was changed to.
    tiny_run.refused(average(tmp_path / "n", checkpoints[0], tmp_path / "other"), 3, "dropout was 0.2, now 0.1")


def test_best_checkpoints_that_never_were_are_named_with_the_cure(options, tmp_path):
    short = options | {"average_last": None, "average_best": 2, "max_epochs": 1, "validate_every": 1000, "max_updates": 1000}
    tiny_run.refused(tiny_run.train(short, tmp_path / "out"), 2, "no validation", "attend export --checkpoint")
    command = [ATTEND, "export", "--checkpoint", tmp_path / "out", "--output", tmp_path / "out" / "model"]
    subprocess.run(command, check=True, capture_output=True)
    known = short | {"max_updates": 999}
    tiny_run.refused(tiny_run.train(known, tmp_path / "other"), 2, "validate_every is 1000, but training ends after max_updates (999)")


def test_export_refuses_another_vocabulary(run, options, tmp_path):
    shutil.copytree(run[0], tmp_path / "run")
    text = (options["train_source"], options["train_target"])
    command = [ATTEND, "vocab", "--input", *text, "--size", "50", "--type", "bpe", "--quiet", "--output", tmp_path / "run/vocab.spm"]
    subprocess.run(command, check=True, capture_output=True)
    command = [ATTEND, "export", "--checkpoint", tmp_path / "run", "--output", tmp_path / "m"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    tiny_run.refused(done, 3, "is not the one that")
    assert not (tmp_path / "m").exists()


def test_export_leaves_alone_what_a_trainer_writes(run, tmp_path):
    shutil.copytree(run[0], tmp_path / "run")
    being_written = tmp_path / "run/checkpoints/update-0000000200.attend-tmp"
    being_written.mkdir()
    subprocess.run([ATTEND, "export", "--checkpoint", tmp_path / "run", "--output", tmp_path / "m"], check=True, capture_output=True)
    assert being_written.exists()


def test_tensorboard_reads_the_events(run):
    events = EventAccumulator(str(run[0] / "tensorboard"))
    events.Reload()
    losses = events.Scalars("train/loss")
    assert [event.step for event in losses] == list(range(3, 151, 3))
    lines = {line["update"]: line for line in tiny_run.metrics(run[0]) if "validation" not in line}
    assert losses[-1].value < losses[0].value
    rates = events.Scalars("train/learning_rate")
    assert all(abs(event.value - lines[event.step]["learning_rate"]) < 1e-8 for event in rates)
    validations = [line for line in tiny_run.metrics(run[0]) if "validation" in line]
    values = [(event.step, event.value) for event in events.Scalars("valid/loss")]
    assert values == [(line["update"], pytest.approx(line["validation"]["loss"], rel=1e-6)) for line in validations]


def test_tensorboard_reads_options_and_final_figures(run):
    """As its HParams page does."""
    events = EventAccumulator(str(run[0] / "tensorboard"))
    events.Reload()
    found = {tag: parse_session(content) for tag, content in events.PluginTagToContent("hparams").items()}
    assert set(found) == {hparams.SESSION_START_INFO_TAG, hparams.SESSION_END_INFO_TAG}
    options = {name: getattr(value, value.WhichOneof("kind")) for name, value in found[hparams.SESSION_START_INFO_TAG].session_start_info.hparams.items()}
    assert options["encoder.d_model"] == 16 and options["schedule"] == "inverse_sqrt" and options["tie_target_output"] is True
    assert json.loads(options["valid_source"]) and "init" not in options
    end = found[hparams.SESSION_END_INFO_TAG].session_end_info
    assert end.status == api_pb2.STATUS_SUCCESS and end.end_time_secs > found[hparams.SESSION_START_INFO_TAG].session_start_info.start_time_secs
    result = json.loads((run[0] / "result.json").read_text(encoding="utf-8"))
    assert [(event.step, event.value) for event in events.Scalars("test/bleu")] == [(150, pytest.approx(result["bleu"]["score"], rel=1e-6))]


def parse_session(content):
    return plugin_data_pb2.HParamsPluginData.FromString(content)


def test_report_holds_the_run_and_asks_nothing_of_a_network(run):
    page = (run[0] / "report.html").read_text(encoding="utf-8")
    data = json.loads(page.split('type="application/json">')[1].split("</script>")[0])
    assert data["last"]["update"] == 150 and len(data["samples"]["samples"]) == 10
    assert data["options"]["encoder"]["d_model"] == 16
    assert data["test"] == json.loads((run[0] / "result.json").read_text(encoding="utf-8"))
    assert "src=" not in page and "href=" not in page and "@import" not in page


def test_a_finished_run_goes_on_with_more_updates(run):
    output, longer, _ = run
    again = tiny_run.trained(longer, output)  # nothing is left to do
    assert again.stderr == "" and len([line for line in tiny_run.metrics(output) if "validation" not in line]) == 150
    more = tiny_run.train(longer | {"seed": 5}, output)
    tiny_run.refused(more, 2, "seed was 1, now 5")
    more = tiny_run.train(longer | {"batch_tokens": 97}, output)
    tiny_run.refused(more, 2, "batch_tokens")


def test_another_version_that_goes_on_is_told_of(options, tmp_path):
    tiny_run.trained(options | {"max_updates": 4, "checkpoint_every": 4}, tmp_path / "out")
    state = tmp_path / "out/checkpoints/update-0000000004/state.json"
    version = json.loads(state.read_text(encoding="utf-8"))["run"]["environment"]["attend"]
    assert f"attend {version}\n" in subprocess.run([TRAIN, "--version"], check=True, capture_output=True, text=True).stdout
    state.write_text(state.read_text(encoding="utf-8").replace(version, "0.0.9 (0)"), encoding="utf-8")
    files = sorted({path.name for path in state.parent.iterdir()} - {"SHA256SUMS"})
    sums = subprocess.run(["sha256sum", *files], cwd=state.parent, check=True, capture_output=True)
    (state.parent / "SHA256SUMS").write_bytes(sums.stdout)
    done = tiny_run.trained(options | {"max_updates": 6}, tmp_path / "out")
    assert f'may differ from an unbroken run: attend was "0.0.9 (0)", now "{version}"' in done.stderr


def test_another_metric_does_not_compare_with_the_one_before(options, tmp_path):
    output = tmp_path / "out"
    by_loss = options | {"max_updates": 4, "checkpoint_every": 2, "early_stopping_metric": "loss"}
    tiny_run.trained(by_loss, output)
    tiny_run.trained(by_loss | {"max_updates": 6, "early_stopping_metric": "chrf"}, output)
    state = json.loads((output / "checkpoints" / "update-0000000006" / "state.json").read_text(encoding="utf-8"))
    only = next(line["validation"]["chrf"] for line in tiny_run.metrics(output) if line["update"] == 6 and "validation" in line)
    assert state["best"] == [{"update": 6, "metric": only}] and state["best_metric"] == only


def test_what_is_refused_leaves_the_runs_vocabulary_alone(run, options, tmp_path):
    output, longer, _ = run
    before = (output / "vocab.spm").read_bytes()
    other = tmp_path / "other.spm"
    text = (options["train_source"], options["train_target"])
    subprocess.run([ATTEND, "vocab", "--input", *text, "--size", "50", "--type", "bpe", "--quiet", "--output", other], check=True, capture_output=True)
    tiny_run.refused(tiny_run.train(longer | {"vocab": other}, output), 2, "source vocabulary holds other text")
    assert (output / "vocab.spm").read_bytes() == before


def test_a_start_with_another_kind_of_vocabulary_leaves_nothing_behind(options, tmp_path):
    output = tmp_path / "out"
    made = options | {"vocab": None, "vocab_size": 60, "vocab_type": "bpe", "max_updates": 4}
    output.mkdir()
    for name in ("source.spm", "target.spm"):  # of a start that was stopped before its first update
        shutil.copy(options["vocab"], output / name)
    tiny_run.trained(made, output)
    assert not (output / "source.spm").exists() and not (output / "target.spm").exists()
    tiny_run.trained(made | {"max_updates": 6}, output)


def test_saved_configuration_is_a_recipe(run):
    done = subprocess.run(
        [ATTEND, "train", "--config", run[0] / "config.toml", "--dry-run", "--json", "--quiet", "--threads", "1"],
        check=True,
        capture_output=True,
        text=True,
    )
    plan = json.loads(done.stdout)
    assert plan["parameters"] > 0 and plan["target_tokens_per_s"] > 0 and plan["data_tokens_per_s"] > 0
    assert "160 lines" in plan["train"] and plan["train_lines"]["kept"] == 160


def test_fine_tuning_starts_from_the_model(run, options, tmp_path):
    output, longer, _ = run
    tuning = options | {"vocab": None, "init": output / "model", "max_updates": 2, "ema_decay": None, "dropout": 0}
    tuning = {name: value for name, value in tuning.items() if not name.startswith(("encoder.", "decoder."))}
    tuning["schedule"], tuning["warmup_updates"] = "constant", 0
    tiny_run.trained(tuning, tmp_path / "tuned")
    trained_losses = [line["loss"] for line in tiny_run.metrics(output) if "validation" not in line]
    tuned = [line["loss"] for line in tiny_run.metrics(tmp_path / "tuned") if "validation" not in line]
    assert tuned[0] < np.mean(trained_losses[:5]) * 0.7
    tiny_run.refused(tiny_run.train(tuning | {"encoder.layers": 2}, tmp_path / "other"), 2, "encoder.layers is 2", "has 1")
    tiny_run.refused(tiny_run.train(tuning | {"vocab": options["vocab"]}, tmp_path / "other"), 2, "more than one of")
    tiny_run.refused(tiny_run.train(tuning | {"vocab_size": 61}, tmp_path / "other"), 2, "vocab_size is 61", "has 60 tokens")
    tiny_run.trained(tuning | {"vocab_size": 60}, tmp_path / "tuned")  # as the recipe that the model is from says
    without = tuning | {"init": None, "vocab_size": 60, "max_updates": 3}
    tiny_run.refused(tiny_run.train(without, tmp_path / "tuned"), 2, "init, the model to fine-tune, is not given any more")


def test_an_int8_model_is_not_fine_tuned(run, options, tmp_path):
    model = run[0] / "model"
    subprocess.run([tiny_run.ATTEND, "quantize", model, "--output", tmp_path / "int8"], check=True, capture_output=True)
    tuning = {name: value for name, value in options.items() if not name.startswith(("encoder.", "decoder."))} | {"vocab": None}
    done = tiny_run.train(tuning | {"init": tmp_path / "int8"}, tmp_path / "tuned")
    tiny_run.refused(done, 3, str(tmp_path / "int8"), "has int8 weights", "init takes the model that it was made of")


def test_a_run_without_validation_says_so(options, tmp_path):
    done = tiny_run.trained(options | {"max_updates": 2, "validate_every": 5}, tmp_path / "out")
    assert "no validation will take place: validate_every is 5, and training ends after max_updates (2)" in done.stderr


def test_a_fine_tuned_run_goes_on_without_the_model_it_began_with(run, options, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(run[0] / "model", model)
    tuning = {name: value for name, value in options.items() if not name.startswith(("encoder.", "decoder."))} | {"vocab": None, "init": model}
    for name, updates in (("tuned", 4), ("again", 4), ("unbroken", 12)):
        tiny_run.trained(tuning | {"max_updates": updates}, tmp_path / name)
    tiny_run.trained(options | {"max_updates": 2}, tmp_path / "plain")
    model.rename(tmp_path / "away")
    for name, updates in (("tuned", 8), ("tuned", 12), ("again", 8)):
        longer = {"config": tmp_path / name / "config.toml", "max_updates": updates}
        assert "is not there any more" in tiny_run.trained(longer, tmp_path / name).stderr
    (tmp_path / "away").rename(model)
    tiny_run.trained(tuning | {"max_updates": 12}, tmp_path / "again")
    shutil.rmtree(model)
    for name in ("tuned", "again"):
        for file in ("model/model.safetensors", "checkpoints/update-0000000012/optimizer.safetensors"):
            assert (tmp_path / name / file).read_bytes() == (tmp_path / "unbroken" / file).read_bytes()
    shutil.copytree(tmp_path / "tuned/model", tmp_path / "model")
    longer = tuning | {"max_updates": 16}
    tiny_run.refused(tiny_run.train(longer, tmp_path / "tuned"), 2, "init, the model to fine-tune, is another")
    shutil.rmtree(tmp_path / "model")
    for name in ("new", "plain"):  # none of them began with it
        tiny_run.refused(tiny_run.train(longer, tmp_path / name), 3, str(tmp_path / "model"))


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_writes_a_checkpoint_and_the_run_ends_the_same(which, options, tmp_path):
    long = options | {"max_updates": 120, "checkpoint_every": 100, "validate_every": 100}
    output = tmp_path / "out"
    with subprocess.Popen(
        tiny_run.command_line(long, output), env=tiny_run.environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        tiny_run.wait_for_updates(output, [process], 1)
        process.send_signal(which)
        message = process.communicate()[1]
    assert process.returncode == 128 + which
    assert "give the same command again to go on" in message
    tiny_run.trained(long, output)
    tiny_run.trained(long, tmp_path / "unbroken")
    tiny_run.assert_same(output, tmp_path / "unbroken")


def stopped_at(message, options, output):
    """Starts a run, stops it by a signal when it says `message`; what it said after that."""
    command = tiny_run.command_line(options, output)
    command.remove("--quiet")
    with subprocess.Popen(command, env=tiny_run.environment(), stderr=subprocess.PIPE, text=True) as process:
        while message not in (line := process.stderr.readline()):
            assert line, f"ended without {message!r}"
        process.send_signal(signal.SIGTERM)
        rest = process.communicate()[1]
    assert process.returncode == 128 + signal.SIGTERM
    assert rest.splitlines()[-1] == "attend: stopped by a signal; nothing is lost: give the same command again to go on"
    return rest


def test_a_signal_before_the_first_update_ends_at_once(options, tmp_path):
    numbers = random.Random(3)
    lines = [" ".join("".join(numbers.choices("abcdefghij", k=6)) for _ in range(9)) for _ in range(3000)]
    (tmp_path / "text").write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = {"train_source": tmp_path / "text", "train_target": tmp_path / "text", "vocab": None, "vocab_size": 100}
    stopped_at("making a vocabulary", options | text, tmp_path / "out")
    assert not os.listdir(tmp_path / "out")


def test_a_signal_during_the_export_ends_at_once_and_loses_nothing(options, tmp_path):
    for side in ("source", "target"):  # enough to translate for a while
        lines = pathlib.Path(options[f"valid_{side}"]).read_text(encoding="utf-8")
        (tmp_path / side).write_text(lines * 200, encoding="utf-8")
    options = options | {"test_source": tmp_path / "source", "test_target": tmp_path / "target", "beam_size": 8}
    rest = stopped_at("training is over", options, tmp_path / "out")
    assert "BLEU" not in rest and not (tmp_path / "out" / "result.json").exists()
    tiny_run.trained(options, tmp_path / "out")
    tiny_run.trained(options, tmp_path / "unbroken")
    tiny_run.assert_same(tmp_path / "out", tmp_path / "unbroken")


def test_a_second_trainer_is_refused(options, tmp_path):
    long = options | {"max_updates": 100000}
    output = tmp_path / "out"
    with subprocess.Popen(tiny_run.command_line(long, output), env=tiny_run.environment(), stderr=subprocess.DEVNULL) as first:
        tiny_run.wait_for_updates(output, [first], 1)
        second = tiny_run.train(long, output)
        first.kill()
    tiny_run.refused(second, 1, "in use by another trainer", str(first.pid))


def mounted(folder, options):
    """A small file system of its own; skips where we may not mount."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("may not mount a tmpfs here")


def test_a_full_disk_is_named_and_nothing_is_lost(options, tmp_path):
    disk = tmp_path / "disk"
    mounted(disk, "size=2m")
    try:
        output = disk / "out"
        short = options | {"max_updates": 4}
        tiny_run.trained(short, output)
        kept = (output / "checkpoints" / "update-0000000004" / "state.json").read_bytes()
        with open(disk / "filler", "wb", buffering=0) as filler:
            try:
                while filler.write(b"x" * 4096) == 4096:
                    pass
            except OSError:
                pass
        full = tiny_run.train(options, output)
        tiny_run.refused(full, 1, "No space left on device")
        assert (output / "checkpoints" / "update-0000000004" / "state.json").read_bytes() == kept
        (disk / "filler").unlink()
        tiny_run.trained(options, output)
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_read_only_output_is_named(options, tmp_path):
    disk = tmp_path / "disk"
    mounted(disk, "size=64k,ro")
    try:
        tiny_run.refused(tiny_run.train(options, disk / "out"), 1, "Read-only file system", str(disk))
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_damaged_newest_checkpoint_is_named_and_the_one_before_used(options, tmp_path):
    tiny_run.trained(options, tmp_path / "unbroken")
    output = tmp_path / "out"
    tiny_run.trained(options | {"max_updates": 8}, output)
    with open(output / "checkpoints" / "update-0000000008" / "optimizer.safetensors", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    done = tiny_run.trained(options, output)
    assert "update-0000000008" in done.stderr and "damaged" in done.stderr
    same = ("weights.safetensors", "optimizer.safetensors", "average.safetensors")
    for name in same:
        path = pathlib.Path("checkpoints") / "update-0000000012" / name
        assert (output / path).read_bytes() == (tmp_path / "unbroken" / path).read_bytes()


@pytest.mark.parametrize("stream", [None, []], ids=["in_memory", "streamed"])
def test_malformed_text_is_read_with_replacements_and_named(stream, options, tmp_path):
    text = {"stream": stream, "quiet": None}
    for side in ("train_source", "valid_source"):
        text[side] = tmp_path / side
        text[side].write_bytes(b"one \xff two " + options[side].read_bytes())
    output, place = tmp_path / "out", f"{text['train_source']}:1"
    assert place in tiny_run.trained(options | text | {"max_updates": 4}, output).stderr
    plan = subprocess.run(tiny_run.command_line(options | text | {"dry_run": [], "json": []}, "none"), capture_output=True, check=True)
    assert json.loads(plan.stdout)["train_lines"]["malformed"] == {"count": 1, "first": [place]}
    samples = json.loads((output / "model/samples.json").read_text(encoding="utf-8"))
    assert samples[0]["source"].startswith("one \ufffd two ")


@pytest.mark.parametrize("others", [0, 3])
def test_long_lines_are_samples_only_where_there_are_no_others(others, options, tmp_path):
    """samples.json became longer than a model may have, which then could not be loaded."""
    text = {side: tmp_path / side for side in ("valid_source", "valid_target")}
    for side, word in (("valid_source", "two "), ("valid_target", "zwei ")):
        lines = options[side].read_text(encoding="utf-8").splitlines()[:others]
        text[side].write_text("".join(line + "\n" for line in [word * 70, *lines, word * 80]), encoding="utf-8")
    tiny_run.trained(options | text | {"max_updates": 2}, tmp_path / "out")
    samples = json.loads((tmp_path / "out/model/samples.json").read_text(encoding="utf-8"))
    lines = text["valid_source"].read_text(encoding="utf-8").splitlines()
    assert [sample["source"] for sample in samples] == (lines[1:-1] if others else lines)


def test_a_preset_is_changed_by_fields(options, tmp_path):
    plan = {}
    for layers in (4, 5):
        recipe = tmp_path / f"{layers}.toml"
        recipe.write_text(f'preset = "tiny"\nencoder.layers = {layers}\n', encoding="utf-8")
        text = {name: value for name, value in options.items() if not name.startswith(("encoder.", "decoder."))}
        command = tiny_run.command_line(text, tmp_path / "none") + ["--config", str(recipe), "--dry-run", "--json"]
        plan[layers] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["parameters"]
    # One more layer of attention (4 d^2), feed-forward (2 d f + f + d) and two norms (4 d).
    assert plan[5] - plan[4] == 4 * 128**2 + 2 * 128 * 256 + 256 + 128 + 4 * 128
