"""`attend import` as a user starts it: which Python runs, what it says of what it finds, and how it ends."""

import os
import pathlib
import shutil
import subprocess
import sys

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
    assert done.returncode == 2 and "ModuleNotFoundError: No module named 'numpy'" in done.stderr and "ATTEND_PYTHON" in done.stderr
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
