"""The README's first real use works as it is written: its my.toml and its commands, on a small text of our own.

The numbers that decide how long training takes are made smaller; everything else is run as it stands.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["BUILD_DIR"])
README = (ROOT / "README.md").read_text(encoding="utf-8")
SMALLER = {"vocab_size": "150", "max_updates": "4"}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.M | re.S)


@pytest.fixture(name="folder", scope="module")
def text_and_recipe(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme")
    corpus = folder / "corpus"
    subprocess.run([sys.executable, ROOT / "tools/demo_corpus.py", corpus, "--train", "300", "--held-out", "5"], check=True)
    for ours, theirs in (("train", "train"), ("valid", "valid"), ("test_pairs", "test")):
        shutil.copy(corpus / f"{ours}.src", folder / f"{theirs}.en")
        shutil.copy(corpus / f"{ours}.tgt", folder / f"{theirs}.de")
    recipe = blocks("toml")[0]
    for name, value in SMALLER.items():
        recipe, count = re.subn(rf"^{name} = \d+$", f"{name} = {value}", recipe, flags=re.M)
        assert count == 1, f"my.toml of the README does not set {name}"
    (folder / "my.toml").write_text(recipe, encoding="utf-8")
    (folder / "build").symlink_to(BUILD)
    return folder


def test_the_first_real_use(folder):
    if not (BUILD / "attend-train").exists():
        pytest.skip("this build has no attend-train")
    commands = next(block for block in blocks("bash") if "attend train" in block)
    environment = {name: value for name, value in os.environ.items() if name != "ATTEND_DATA"}  # the text is here
    for command in commands.splitlines():
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, f"{command}\n{done.stderr[-2000:]}"
    assert len((folder / "out.de").read_text(encoding="utf-8").splitlines()) == 5
    assert "<svg" in (folder / "attention.svg").read_text(encoding="utf-8")
    assert "<html" in (folder / "my-model/report.html").read_text(encoding="utf-8").lower()


def test_the_make_commands_exist():
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M)
    named = re.findall(r"\bmake ([a-z][\w-]*)", README)
    assert {"demo", "test"} <= set(named) <= set(targets) | {"a"}
