"""Where things are, and the program beside the package."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build"))
INSTALLED = os.environ.get("ATTEND_PACKAGE")  # where `pip install --target` put a wheel
PACKAGE = pathlib.Path(INSTALLED or BUILD / "python")
PROGRAM = PACKAGE / "bin/attend" if INSTALLED else BUILD / "attend"
GOLDEN = ROOT / "tests/data/golden_v1"
LEARNED = ROOT / "tests/data/golden_v1_variant"  # a model whose encoder reaches 37 pieces
LANGUAGE_MODEL = ROOT / "tests/data/golden_language_model"
LINES = ["lumi tavo keri", "", "neri dosa", "sona mipa, rudu vesta!", "olin", "lumi tavo keri"] * 12
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PACKAGE)}


def program(*arguments, stdin=""):
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, encoding="utf-8", timeout=300, check=True)
    return done.stdout


def import_here(source, output, **options):
    """The status of `attend import` in this process, which has what --verify needs."""
    from attend.convert.__main__ import main

    usual = {"source_language": "", "target_language": "", "label_scheme": "auto", "verify": False, "quiet": False}
    return main({"source": str(source), "output": str(output)} | usual | options)


def start(code, *arguments):
    """A Python of its own that has the package."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)


def run(code, *arguments):
    process = start(code, *arguments)
    output, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    return output
