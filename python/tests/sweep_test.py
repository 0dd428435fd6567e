"""The example of a sweep: trials are runs, some are pruned, and one that was killed goes on."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
import tiny_run
from package import ENVIRONMENT, ROOT

optuna = pytest.importorskip("optuna", reason="optuna is not installed")
from optuna.storages import JournalStorage  # noqa: E402
from optuna.storages.journal import JournalFileBackend  # noqa: E402

RUNGS = (4, 8, 12)


@pytest.fixture(name="recipe", scope="module")
def recipe_of_a_tiny_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    options = tiny_run.prepare(folder) | {"validate_every": 4}
    del options["dropout"], options["peak_learning_rate"], options["max_updates"]
    lines = [f"{name} = {json.dumps(value if isinstance(value, (int, float)) else str(value))}\n" for name, value in options.items()]
    (folder / "tiny.toml").write_text("".join(lines), encoding="utf-8")
    return folder / "tiny.toml"


def start(recipe, output, trials):
    command = [sys.executable, ROOT / "python/examples/sweep.py", recipe, output, "--trials", str(trials), "--rungs", *map(str, RUNGS)]
    return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True)


def trials_in(output):
    return optuna.load_study(study_name="sweep", storage=JournalStorage(JournalFileBackend(str(output / "study.journal")))).trials


def test_a_killed_sweep_goes_on_and_each_trial_is_a_run(recipe, tmp_path):
    output = tmp_path / "out"
    killed = start(recipe, output, 5)
    while not (output / "trial-001/metrics.jsonl").is_file():
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.02)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    going = next(trial for trial in trials_in(output) if trial.user_attrs.get("directory") == "trial-001")
    trainer = output / "trial-001/lock"  # in a session of its own; it ends at its next line
    while trainer.is_file() and pathlib.Path(f"/proc/{trainer.read_text(encoding='utf-8').strip()}/exe").exists():
        time.sleep(0.02)

    process = start(recipe, output, 5)
    said, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    trials = trials_in(output)
    finished = [trial for trial in trials if trial.state.name in ("COMPLETE", "PRUNED")]
    assert len(finished) == 5 and len({trial.user_attrs["directory"] for trial in finished}) == 5
    assert [trial.params for trial in finished if trial.user_attrs["directory"] == "trial-001"] == [going.params]
    assert len({json.dumps(trial.params) for trial in finished}) > 2  # the second start draws other numbers
    for trial in finished:
        lines = tiny_run.metrics(output / trial.user_attrs["directory"])
        validations = {line["update"]: line["validation"]["loss"] for line in lines if "validation" in line}
        assert trial.intermediate_values == {rung: validations[rung] for rung in RUNGS if rung in validations}
        assert trial.state.name == "PRUNED" or trial.value == validations[RUNGS[-1]]
        assert (output / trial.user_attrs["directory"] / "report.html").is_file()
    best = min((trial for trial in finished if trial.state.name == "COMPLETE"), key=lambda trial: trial.value)
    assert said.startswith(f"best: {output / best.user_attrs['directory']}, loss ")

    again = start(recipe, output, 5)
    assert again.communicate(timeout=60)[0] == said and len(trials_in(output)) == len(trials)


def test_errors_are_told(tmp_path):
    process = start("nowhere.toml", tmp_path / "out", 1)
    said, errors = process.communicate(timeout=60)
    assert (process.returncode, said) == (1, "") and errors.splitlines()[-1].startswith("sweep.py: ") and "nowhere.toml" in errors
