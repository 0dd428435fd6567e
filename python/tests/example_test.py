"""The example and the README's Python run as they stand."""

import re
import subprocess
import sys

import pytest
from package import ENVIRONMENT, GOLDEN, ROOT, run


def plot(*arguments):
    return subprocess.run(
        [sys.executable, ROOT / "python/examples/plot_attention.py", *arguments],
        env=ENVIRONMENT, check=False, stderr=subprocess.PIPE, encoding="utf-8")


def test_the_example_draws(tmp_path):
    assert plot(GOLDEN, "lumi tavo keri", "--output", tmp_path / "a.png").returncode == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("arguments", "message"), [
    (["nowhere", "lumi"], "nowhere"), ([GOLDEN, "lumi", "--layer", "3"], "--layer is 3, expected 0 to 2"),
    ([GOLDEN, "lumi", "--layer", "-1"], "--layer is -1"), ([GOLDEN, "lumi", "--output", "nowhere/a.png"], "nowhere/a.png"),
    ([GOLDEN, "lumi", "--output", "a.xyz"], "xyz"),
], ids=str)
def test_the_example_says_what_is_wrong(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = plot(*arguments)
    assert done.returncode in (1, 2) and "Traceback" not in done.stderr
    assert message in done.stderr.splitlines()[-1] and done.stderr.splitlines()[-1].startswith("plot_attention.py: ")


def test_the_page_of_python(translator, tmp_path):
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, flags=re.M | re.S)
    # Tests that train run the blocks of the others, those of PyTorch and of importing have their own.
    elsewhere = ("my-tagger", "my-encoder", "my-parser", "my-transcriber", "attend.train(", "attend.torch", "attend.convert")
    code = "\n".join(block for block in blocks if not any(word in block for word in elsewhere))
    (tmp_path / "test.en").write_text("lumi tavo keri\nolin\n", encoding="utf-8")
    (tmp_path / "test.de").write_text("grau\nöd\n", encoding="utf-8")
    (tmp_path / "page.html").write_text("<p>lumi <b>tavo</b></p>\n", encoding="utf-8")
    for name in ("my-model", "first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model").symlink_to(GOLDEN)
    (tmp_path / "my-language-model").mkdir()
    (tmp_path / "my-language-model/model").symlink_to(ROOT / "tests/data/golden_language_model")
    output = run("import os, sys\nos.chdir(sys.argv[1])\n" + code, tmp_path)
    assert output.startswith(translator.translate("A small house.") + "\n")
