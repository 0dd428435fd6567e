"""Word alignments as attend translate and attend score write them: links count the words of the lines, divided by spaces and tabs."""

import hashlib
import json
import pathlib
import random
import re
import resource
import shutil

import pytest
from programs import attend

MODEL = pathlib.Path(__file__).resolve().parents[1] / "data/golden_v1"
WORDS = "lumi tavo keri paku neri dosa ilvo sane".split()


def count_words(line):
    return len(re.findall(r"[^ \t]+", line))


def model_with_vocabulary(folder, *options):
    """The golden model with a vocabulary of as many pieces, made as the options say."""
    shutil.copytree(MODEL, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    source = random.Random(5)
    lines = [" ".join(source.choices(WORDS, k=source.randint(1, 9))) for _ in range(50)]
    (folder / "text").write_text("\n".join(lines) + "\n", encoding="utf-8")
    size = config["model"]["source_vocab_size"]
    done = attend("vocab", "--input", folder / "text", "--size", size, "--output", folder / "vocab.spm", "--quiet", *options)
    assert done.returncode == 0, done.stderr
    config["sha256"]["vocab.spm"] = hashlib.sha256((folder / "vocab.spm").read_bytes()).hexdigest()
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def fields(*arguments, **options):
    """Of each line: what stands before the links, and the links."""
    done = attend(*arguments, "--alignments", "--threads", 1, **options)
    assert done.returncode == 0, done.stderr
    parts = [line.rsplit("|||", 1) for line in done.stdout.splitlines()]
    return [(text.strip(), [tuple(map(int, link.split("-"))) for link in links.split()]) for text, links in parts]


@pytest.mark.parametrize("normalization", ["none", "nfkc"])
def test_links_count_the_words_of_the_lines(normalization, tmp_path):
    model = model_with_vocabulary(tmp_path / "model", "--type", "bpe", "--normalization", normalization)
    lines = ["lumi  tavo keri", "  paku\tneri   dosa ", "lumi\u00a0tavo keri", "lumi\u00b4tavo keri", "lumi \u65e5\u672c"]
    words = [count_words(line) for line in lines]
    assert words == [3, 3, 2, 2, 2]
    for name in ("source", "target"):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    pairs = ("--quiet", "--source", tmp_path / "source", "--target", tmp_path / "target")
    for count, (_, links) in zip(words, fields("score", "--model", model, *pairs), strict=True):
        assert [target for _, target in links] == list(range(count))
        assert all(0 <= source < count for source, _ in links)
    outputs = fields("translate", "--model", model, stdin="\n".join(lines) + "\n")
    for count, (text, links) in zip(words, outputs, strict=True):
        assert [target for _, target in links] == list(range(count_words(text)))
        assert all(0 <= source < count for source, _ in links)


def test_parts_of_a_line_share_the_words_that_they_divide():
    options = ("translate", "--model", MODEL, "--min-length", 2, "--max-length", 6)
    parts = ["lumi\u3002", "tavo\u3002 ", "keri\u3002", "lumi"]  # of two words
    ((text, links),) = fields(*options, "--max-input-tokens", 3, stdin="".join(parts) + "\n")
    alone = fields(*options, stdin="\n".join(part.strip() for part in parts) + "\n")
    assert text == " ".join(text for text, _ in alone)
    moved, target_words = [], 0
    for (text, part), source_words in zip(alone, (0, 0, 1, 1)):
        assert part
        moved += [(source + source_words, target + target_words) for source, target in part]
        target_words += count_words(text)
    assert links == moved


def test_words_of_a_long_line_take_time_in_proportion(tmp_path):
    """`attend align` searched the line from its beginning for each word: minutes of this one."""
    for side in ("source", "target"):
        (tmp_path / side).write_text("a b\n" + "a " * 400_000 + "\nb a\n", encoding="utf-8")
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    done = attend("align", "--source", tmp_path / "source", "--target", tmp_path / "target", "--output", tmp_path / "links", preexec_fn=limit)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "links").read_text(encoding="utf-8") == "0-0 1-1\n\n0-0 1-1\n"
