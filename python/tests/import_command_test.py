"""`attend import` as a user starts it: which Python runs, what it says of what it finds, and how it ends."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from convert_npz_test import made
from package import INSTALLED, PACKAGE, PROGRAM

pytest.importorskip("yaml")


@pytest.fixture(name="model", scope="module")
def marian_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("npz")
    made(folder, {})
    return folder / "model.npz"


def script(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{content}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def imported(source, *options, program=PROGRAM, cwd=None, **environment):
    environment = {name: value for name, value in {**os.environ, "ATTEND_PYTHON": sys.executable, **environment}.items() if value}
    return subprocess.run(
        [program, "import", source, *options], capture_output=True, text=True, check=False, env=environment, cwd=cwd, timeout=300)


@pytest.fixture(name="tree")
def build_tree(tmp_path):
    """A copy of the program in a folder of its own."""
    if INSTALLED:
        pytest.skip("the program of a build is asked")
    (tmp_path / "source/build/python").mkdir(parents=True)
    shutil.copy(PROGRAM, tmp_path / "source/build/attend")
    return tmp_path / "source"


def test_a_build_runs_the_python_that_its_module_was_made_for(tree, model, tmp_path):
    (tree / "build/python/attend").symlink_to(PACKAGE / "attend")
    none = {"program": tree / "build/attend", "ATTEND_PYTHON": "", "PYTHONPATH": "", "PATH": str(script(tmp_path / "bin/python3", "exit 1").parent)}
    done = imported(model, "--output", tmp_path / "out", **none)
    assert done.returncode == 2 and "which 'python3' can't use" in done.stderr
    script(tree / ".venv/bin/python", f'exec {sys.executable} "$@"')
    done = imported(model, "--output", tmp_path / "out", **none)
    assert done.returncode == 0 and (tmp_path / "out/config.json").exists(), done.stderr


def test_a_build_without_the_module_takes_the_installed_package(tree, model, tmp_path):
    (tree / "build/python/attend/convert").mkdir(parents=True)
    for file in [*(PACKAGE / "attend").glob("*.py"), *(PACKAGE / "attend/convert").glob("*.py")]:
        (tree / "build/python" / file.relative_to(PACKAGE)).symlink_to(file.resolve())
    done = imported(model, "--output", tmp_path / "out", program=tree / "build/attend", PYTHONPATH=str(PACKAGE))
    assert done.returncode == 0, done.stderr


def test_what_the_python_lacks_is_told(model, tmp_path):
    bare = script(tmp_path / "python", f'exec {sys.executable} -S "$@"')
    done = imported(model, "--output", tmp_path / "out", ATTEND_PYTHON=str(bare))
    assert done.returncode == 2 and "'nanobind_backend' is not installed" in done.stderr and "ATTEND_PYTHON" in done.stderr
    done = imported(model, "--output", tmp_path / "out", ATTEND_PYTHON=str(tmp_path / "gone"))
    assert done.returncode == 2 and "No such file or directory" in done.stderr


def test_make_build_builds_what_import_needs():
    root = pathlib.Path(__file__).resolve().parents[2]
    names = subprocess.run(["ninja", "-C", PROGRAM.parent, "-t", "query", "attend_built"], capture_output=True, text=True, check=False)
    assert names.returncode == 0, names.stderr
    assert "--target attend_built" in (root / "Makefile").read_text(encoding="utf-8")
    deep = subprocess.run(
        ["ninja", "-C", PROGRAM.parent, "-t", "inputs", "attend_built"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert any(name.startswith("python/attend/_attend.") for name in deep) and "attend" in deep


def test_the_output_is_named_after_the_source(model, tmp_path):
    for name in ("model", "model-attend"):
        done = imported(model, cwd=tmp_path)
        assert done.returncode == 0 and f"wrote {name}: " in done.stdout, done.stderr
        assert (tmp_path / name / "config.json").exists()
    done = imported(model, cwd=tmp_path)
    assert done.returncode == 2 and "'model-attend' exists" in done.stderr


MARIAN = """
import sys, pathlib
arguments = sys.argv
texts = [pathlib.Path(arguments[arguments.index("--train-sets") + i]).read_text().splitlines() for i in (1, 2)]
pathlib.Path("asked").write_text(" ".join(arguments[1:]))
print(*("0 ||| WordScores= SCORES" for _ in texts[1]), sep="\\n")
"""


def test_marian_scores_the_samples_where_it_is_installed(model, tmp_path):
    """A stand-in for pymarian, which the tests lack, says what becomes of its answers; bench/compare_marian.py asks Marian itself."""
    done = imported(model, "--output", "out", "--verify", cwd=tmp_path, PYTHONPATH=str(PACKAGE))
    assert done.returncode == 1 and "--verify needs the package pymarian: pip install pymarian" in done.stderr
    (tmp_path / "pymarian").mkdir()
    (tmp_path / "pymarian/__init__.py").touch()
    for scores, part in (("-1 -2", "tokens, Marian's vocabulary makes [2, 2"), ("", "Marian can't score")):
        shutil.rmtree(tmp_path / "out")
        script = MARIAN.replace("SCORES", scores) if scores else "import sys; sys.exit('it aborts')"
        (tmp_path / "pymarian/__main__.py").write_text(script, encoding="utf-8")
        done = imported(model, "--output", "out", "--verify", cwd=tmp_path, PYTHONPATH=f"{PACKAGE}:{tmp_path}")
        assert done.returncode == 1 and part in done.stderr, done.stderr
    assert (tmp_path / "asked").read_text(encoding="utf-8").startswith(f"score --model {model} --vocabs ")


def test_ctrl_c_ends_it_at_once_and_leaves_nothing(model, tmp_path):
    """In the midst of a call that knows no signals."""
    held = (
        "import attend.convert._source as source, sys, time; from package import import_here\n"
        "source.write_model = lambda *all: (all[-1].mkdir(), print('held', flush=True), time.sleep(600))\nimport_here(*sys.argv[1:])")
    command = [sys.executable, "-c", held, model, tmp_path / "out"]
    environment = os.environ | {"PYTHONPATH": f"{PACKAGE}:{pathlib.Path(__file__).parent}"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert "found" in process.stdout.readline() and process.stdout.readline() == "held\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and errors == "attend import: interrupted; nothing was written\n"
    assert not list(tmp_path.iterdir())


def test_where_nothing_can_be_written(model, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = imported(model, "--output", str(tmp_path / "file/out"))
    assert done.returncode == 1 and done.stderr == f"attend import: '{tmp_path / 'file'}': File exists\n"


def with_array(model, folder, name, value):
    arrays = dict(np.load(model))
    np.savez(folder / "changed.npz", **arrays | {name: value})
    shutil.copy(model.parent / "vocab.spm", folder)
    return folder / "changed.npz"


def test_broken_numbers_name_the_tensor(model, tmp_path):
    for value in (np.nan, np.inf):
        weights = np.full((16, 16), value, np.float32)
        done = imported(with_array(model, tmp_path, "encoder_l1_self_Wq", weights), "--output", str(tmp_path / "out"))
        name = "encoder_l1_self_Wq" if value != value else "encoder.layers.0.self_attention.query.weight"
        assert done.returncode == 3 and f"tensor '{name}'" in done.stderr and not (tmp_path / "out").exists(), done.stderr


def case(folder, **files):
    folder.mkdir()
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_bytes(content)
    return folder


def test_what_is_no_model_is_told_in_a_sentence(model, tmp_path):
    whole = model.read_bytes()
    for number, (name, files, part) in enumerate((
        ("", {"config__json": b'{"model_type": "llama"}'}, 'model_type of its config.json is "llama", expected one of marian, bart'),
        ("", {"config__json": b'{"format_version": 7}'}, "attend's own model directory; use it as it is"),
        ("", {"config__json": b'{"d": 1}'}, "its config.json has no model_type"),
        ("model.safetensors", {"config__json": b"{}", "model__safetensors": b""}, "it is a file of a model; name its folder"),
        ("", {"model__npz": whole, "best__npz": whole}, "2 models of Marian (best.npz, model.npz); name one of the files"),
        ("", {"model__npz": whole[:-40]}, "model.npz is not a whole .npz file"),
        ("", {}, "it has no config.json"),
        ("x.pt", {"x__pt": b"PK"}, "neither a checkpoint of fairseq nor one of OpenNMT-py 3"))):
        done = imported(case(tmp_path / str(number), **files) / name, "--output", str(tmp_path / "out"))
        assert done.returncode == 3 and part in done.stderr and len(done.stderr) < 400, done.stderr
