"""What tools/demo prints of its small models, which it trains here as for a user; a stored model stands for the translator."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["BUILD_DIR"])


@pytest.fixture(name="demo", scope="module")
def run_of_the_demo(tmp_path_factory):
    if not (BUILD / "attend-train").exists():
        pytest.skip("this build has no attend-train")
    folder = tmp_path_factory.mktemp("demo")
    for name in ("tools", "recipes"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "build").symlink_to(BUILD)
    subprocess.run([sys.executable, "tools/demo_corpus.py", "out/corpus", "--train", "300", "--held-out", "5"], cwd=folder, check=True)
    shutil.copytree(ROOT / "tests/data/golden_v1", folder / "out/run/model")
    return folder, run(folder, "tools/demo out")


def run(folder, command):
    environment = {name: value for name, value in os.environ.items() if name != "ATTEND_DATA"}  # paths start here
    return subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, text=True, timeout=900, check=True, env=environment).stdout


def printed_command(demo, what):
    """Runs the command that the demo prints after `what`."""
    folder, output = demo
    return run(folder, re.search(rf"^{what}:\s+(.*)$", output, flags=re.M).group(1))


def assert_is_a_tale(folder, text):
    """Each word is one of the tales that it learned, and a tale has some."""
    known = set(re.findall(r"\w+", (folder / "out/tales/train.txt").read_text(encoding="utf-8")))
    words = re.findall(r"\w+", text)
    assert len(words) > 15 and set(words) <= known, text


def test_the_tale_is_of_words_that_there_are(demo):
    folder, output = demo
    assert_is_a_tale(folder, re.search("^Generated: (Once there was .*)$", output, flags=re.M).group(1))
    assert_is_a_tale(folder, printed_command(demo, "your own beginning of a tale"))


def test_the_digit_is_read_right(demo):
    folder, output = demo
    label, path, probability = re.search(r"^Seen: (\d) in the picture (.*), probability (.*)$", output, flags=re.M).groups()
    assert path.endswith(f"/{label}.png") and float(probability) > 0.5
    assert printed_command(demo, "your own picture of a digit").startswith("3\t")
    assert "<svg" in (folder / "out/digit.svg").read_text(encoding="utf-8")


def test_the_digits_are_heard_right(demo):
    folder, output = demo
    texts = dict(line.split("\t") for line in (folder / "out/sounds/valid.tsv").read_text(encoding="utf-8").splitlines())
    heard, path = re.search(r"^Heard: ([0-9 ]+) in the recording (.*)$", output, flags=re.M).groups()
    assert path.endswith("/valid/2.wav") and heard == texts["valid/2.wav"] and len(heard.split()) == 3
    assert printed_command(demo, "your own recording of digits").strip() == texts["valid/5.wav"]


def test_the_sentences_are_tagged_right(demo):
    assert ("Tagged: [CLUSTER Kanchipuram] sarees are known for [FEATURE contrast] [PART borders], [TECHNIQUE korvai] joining, "
            "[MATERIAL silk] [PART body], and [FEATURE zari-rich] [PART pallus].\n") in demo[1]
    item = json.loads(printed_command(demo, "your own sentence to tag"))
    assert [(entity["label"], item["text"][entity["begin"]:entity["end"]]) for entity in item["entities"]] == [
        ("CLUSTER", "Paithan"), ("MOTIF", "peacock"), ("PART", "pallu")]
