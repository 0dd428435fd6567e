"""attend.train against the program that it runs."""

import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import types

import attend
import numpy as np
import pytest
import tiny_run
from package import ENVIRONMENT, PACKAGE


@pytest.fixture(name="options", scope="module")
def prepare(tmp_path_factory):
    return tiny_run.prepare(tmp_path_factory.mktemp("text"))


def keywords(options):
    return {name.replace(".", "__"): value for name, value in options.items()}


def script(path, *lines):
    """A program of these lines of shell."""
    path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_run_is_that_of_the_program(options, tmp_path, capfd):
    text = {"test_source": [options["valid_source"]], "test_target": [options["valid_target"]], "languages": ["en", "de"]}
    streamed = tiny_run.streamed(options, tmp_path) | text
    result = attend.train(output=tmp_path / "python", quiet=True, tie_target_output=False, **keywords(streamed))
    assert capfd.readouterr() == ("", "")
    tiny_run.trained(streamed | {"tie-target-output=false": []}, tmp_path / "program")
    tiny_run.assert_same(tmp_path / "python", tmp_path / "program")

    assert (result.path, result.model, result.updates) == (tmp_path / "python", tmp_path / "python/model", 12)
    assert result.history == tiny_run.metrics(tmp_path / "program") and 0 < result.seconds < 300
    validations = [(line["update"], line["validation"]) for line in result.history if "validation" in line]
    assert len(validations) == 6 and result.last == validations[-1]
    assert result.best == min(validations, key=lambda validation: validation[1]["loss"])
    assert result.test == json.loads((tmp_path / "program/result.json").read_text(encoding="utf-8"))
    assert result.load().translate("one two") == attend.Translator(tmp_path / "program/model").translate("one two")
    table = [line.split() for line in str(result).splitlines()]
    assert table[0][:3] == [f"{tmp_path}/python:", "12", "updates;"] and table[1][:3] == ["validation", "update", "bleu"]
    assert table[2] == ["last", "12", *(f"{figure:.5g}" for figure in result.last.figures.values())]
    assert table[3][:2] == ["best", str(result.best.update)]
    assert ["test", "bleu", f"{result.test['bleu']['score']:.5g}"] in table
    assert "history" not in repr(result)


def test_an_adapter_is_trained_and_loaded_with_its_base(options, tmp_path):
    base = attend.train(output=tmp_path / "base", quiet=True, **keywords(options))
    rest = {name: value for name, value in options.items() if not name.startswith(("encoder.", "decoder.", "vocab"))}
    result = attend.train(output=tmp_path / "run", quiet=True, init=base.model, adapter__rank=2, **keywords(rest))
    assert base.adapter is None and (result.path, result.model) == (tmp_path / "run", base.model)
    assert result.adapter == tmp_path / "run/adapter" and len(result.history) == len(base.history)
    expected = attend.Translator(base.model, adapter=result.adapter).translate("one two")
    assert result.load().translate("one two").score == expected.score != base.load().translate("one two").score


def test_a_run_without_validation_and_its_warnings(options, tmp_path):
    result = attend.train(output=tmp_path / "out", quiet=True, **keywords(options | {"max_updates": 2, "validate_every": 5}))
    assert result.last is None and result.best is None and result.test is None and len(str(result).splitlines()) == 1
    assert any("no validation will take place" in warning for warning in result.warnings)


def test_arguments(tmp_path):
    program = script(tmp_path / "attend", f'printf "%s\\n" "$@" > {tmp_path}/arguments', "exit 3")
    with pytest.raises(attend.InputError, match="status 3"):
        attend.train(
            pathlib.Path("my.toml"), program=program, stream=True, joint_vocab=False, encoder__layers=2,
            train_source=[pathlib.Path("a"), "-b"], seed=None, dropout=0.1, noam_scale=np.float32(2), train_weights=(1, 0.5))
    assert (tmp_path / "arguments").read_text(encoding="utf-8").splitlines() == [
        "train", "--json", "--config=my.toml", "--stream=true", "--joint-vocab=false", "--encoder.layers=2", "--train-source=a",
        "--train-source=-b", "--dropout=0.1", "--noam-scale=2.0", "--train-weights=1", "--train-weights=0.5"]


SAYS = ["echo update 1/2 >&2", "echo warning: odd >&2", "echo update 2/2 >&2", "echo done >&2", "echo attend: disk full >&2", "exit 1"]


def test_progress_is_a_line_each_in_a_file(tmp_path, capsys):
    with pytest.raises(attend.RunError, match="^disk full$"):
        attend.train(program=script(tmp_path / "attend", *SAYS))
    assert capsys.readouterr() == ("", "update 1/2\nwarning: odd\nupdate 2/2\ndone\n")


def test_progress_stays_in_one_line_of_a_terminal(tmp_path, monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(attend.RunError):
        attend.train(program=script(tmp_path / "attend", *SAYS))
    start = "\r\x1b[K"
    assert terminal.getvalue() == f"{start}update 1/2{start}warning: odd\n{start}update 2/2{start}done\n{start}"


def test_progress_is_one_output_of_a_notebook(tmp_path, monkeypatch, capsys):
    shown = []

    class Handle:
        def update(self, content, raw):
            shown.append(("update", content, raw))

    def display(content, raw, display_id):
        shown.append(("display", content, raw and display_id))
        return Handle()

    notebook = types.ModuleType("IPython.display")
    notebook.display = display
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    with pytest.raises(attend.RunError):
        attend.train(program=script(tmp_path / "attend", *SAYS))
    assert shown == [
        ("display", {"text/plain": "update 1/2"}, True),
        ("update", {"text/plain": "update 2/2"}, True),
        ("update", {"text/plain": "done"}, True),
    ]
    assert capsys.readouterr().err == "warning: odd\n"


def test_what_the_program_refuses(options, tmp_path):
    good = keywords(options) | {"output": tmp_path / "out", "quiet": True}
    with pytest.raises(attend.ConfigurationError, match="unknown option '--max-update=7'.*--max-updates"):
        attend.train(**good, max_update=7)
    with pytest.raises(attend.ConfigurationError, match="dropout is 2"):
        attend.train(**good | {"dropout": 2})
    with pytest.raises(attend.ConfigurationError, match="encoder.layer"):
        attend.train(**good, encoder__layer=2)
    with pytest.raises(attend.InputError, match="nowhere.en"):
        attend.train(**good | {"train_source": tmp_path / "nowhere.en"})
    with pytest.raises(attend.Error, match="nothing.toml"):
        attend.train(tmp_path / "nothing.toml", quiet=True)
    with pytest.raises(attend.RunError, match="ended by SIGKILL; the same call continues"):
        attend.train(program=script(tmp_path / "attend", "kill -9 $$"))
    assert not (tmp_path / "out").exists()


def test_what_makes_no_sense(tmp_path):
    with pytest.raises(attend.ConfigurationError, match="train_source is an empty list"):
        attend.train(train_source=[])
    with pytest.raises(attend.ConfigurationError, match="dropout is {}, expected a number"):
        attend.train(dropout={})
    with pytest.raises(attend.UsageError, match="no option dry_run"):
        attend.train(dry_run=True)
    with pytest.raises(attend.UsageError, match="made no model; expected"):
        attend.train(program=script(tmp_path / "attend", "echo '{\"parameters\": 7}'"))


def test_a_program_that_can_not_train(tmp_path, monkeypatch):
    with pytest.raises(attend.UsageError, match="can't run '/nowhere/attend'"):
        attend.train(program="/nowhere/attend")
    message = "attend train needs the program attend-train, which is not at '/x'; install the package attend-train, as docs/installing.md says, or build both programs with make build"
    monkeypatch.setenv("ATTEND_PROGRAM", str(script(tmp_path / "attend", f'echo "{message}" >&2', "exit 2")))
    with pytest.raises(attend.ConfigurationError, match="make build"):
        attend.train()


FIND = "import attend\ntry: attend.train(seed=-1)\nexcept attend.Error as error: print(type(error).__name__, error)"


def test_programs_are_found_by_what_stands_beside_them(tmp_path):
    """An installed package has a program that can't train; one of PATH that can is taken."""
    shutil.copytree(PACKAGE / "attend", tmp_path / "attend")
    environment = ENVIRONMENT | {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}
    environment.pop("ATTEND_PROGRAM", None)

    def found(**more):
        return subprocess.run(
            [sys.executable, "-c", FIND], cwd=tmp_path, env=environment | more, capture_output=True, text=True, check=True).stdout

    assert found().startswith("UsageError there is no program attend; install the package attend-train")
    (tmp_path / "bin").mkdir()
    script(tmp_path / "bin/attend")
    assert found().startswith(f"UsageError '{tmp_path}/bin/attend' can't train: no attend-train stands beside it; install the package attend-train, or")
    assert found(PATH=f"{tiny_run.BUILD}:/bin") .startswith("ConfigurationError --seed: seed is -1, expected an integer")
    assert found(ATTEND_PROGRAM=str(tiny_run.ATTEND)).startswith("ConfigurationError --seed: seed is -1")


RUN = """
import attend, json, sys
try:
    attend.train(**json.loads(sys.argv[1]))
except KeyboardInterrupt:
    print("interrupted")
"""


def start(**options):
    """In a group of its own, as a shell starts programs of a terminal."""
    return subprocess.Popen(
        [sys.executable, "-c", RUN, json.dumps(options, default=str)], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True)


def test_ctrl_c_writes_a_checkpoint_and_the_run_ends_the_same(options, tmp_path):
    long = options | {"max_updates": 120, "checkpoint_every": 100, "validate_every": 100}
    output = tmp_path / "out"
    with start(output=output, **keywords(long)) as process:
        tiny_run.wait_for_updates(output, [process], 1)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        printed, errors = process.communicate()
    assert (process.returncode, printed) == (0, "interrupted\n")
    assert "a checkpoint is written: give the same command again to go on" in errors.splitlines()[-1]
    assert len(list((output / "checkpoints").iterdir())) == 1
    assert attend.train(output=output, quiet=True, **keywords(long)).updates == 120
    tiny_run.trained(long, tmp_path / "unbroken")
    tiny_run.assert_same(output, tmp_path / "unbroken")


def test_a_second_ctrl_c_ends_the_program_at_once(tmp_path):
    program = script(tmp_path / "attend", "trap '' INT", f"echo $$ > {tmp_path}/pid", "exec sleep 1000")
    with start(program=program) as process:
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text(encoding="utf-8"):
            time.sleep(0.01)
        time.sleep(0.5)  # until it waits for the program that it has started
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=20)[0] == "interrupted\n"
    assert not pathlib.Path("/proc", (tmp_path / "pid").read_text(encoding="utf-8").strip()).exists()


def test_the_page_of_python(options, tmp_path):
    text = {"test_source": options["valid_source"], "test_target": options["valid_target"]}
    recipe = "".join(f"{name} = {json.dumps(value, default=str)}\n" for name, value in (options | text).items())
    (tmp_path / "my.toml").write_text(recipe, encoding="utf-8")
    printed = tiny_run.run_page_block("attend.train(", {"my.toml": tmp_path / "my.toml"})
    assert "my-run: 20 updates" in printed
