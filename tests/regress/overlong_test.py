"""One line that cannot be divided between sentences ended a whole job, as users met it."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build"))
MODEL = ROOT / "tests/data/golden_v1"
FAST = ("--beam-size", 1, "--max-length", 3)
SIZE = 100000  # characters


def translate(*arguments, lines, model=MODEL):
    return subprocess.run(
        [BUILD / "attend", "translate", "--model", model, *map(str, (*FAST, *arguments))], input="".join(f"{line}\n" for line in lines),
        capture_output=True, encoding="utf-8", timeout=300, check=False)


def fits(text, limit, model=MODEL):
    return translate("--overlong", "refuse", "--max-input-tokens", limit, lines=[text], model=model).returncode == 0


def longest(text, limit, model=MODEL):
    """Characters of the text's longest beginning that is not too long."""
    least, most = 1, len(text)
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if fits(text[:middle], limit, model) else (least, middle - 1)
    return least


def alone(parts, model=MODEL):
    return translate(lines=parts, model=model).stdout.split("\n")[:-1]


@pytest.mark.parametrize("text", [
    "lumi " * (SIZE // 5), "a" * SIZE, "keritavo" * (SIZE // 8), "天地玄黄" * (SIZE // 4), "天地玄黄，" * (SIZE // 5), "ภาษาไทยง่าย" * (SIZE // 11),
    "http://example.org/?" + "lumi=x%20y&tavo=" * (SIZE // 16), "a" + "\u0301" * SIZE + "b", "e\u0301" * (SIZE // 2), "😀" * SIZE + "a", "\u200d" * SIZE + "a",
    "*" * SIZE, " " * SIZE + "a", "a" + " " * SIZE + "b", "\ufdfa" * 2000, "lumi, " * 2000, "\u2581" * SIZE + "a", "1" * SIZE,
], ids=lambda text: ascii(text[:12]))
@pytest.mark.parametrize("limit", [512, 20])
def test_no_line_ends_the_job(text, limit):
    if limit == 20:
        text = text[:1000] + text[-1000:]
    done = translate("--max-input-tokens", limit, lines=["lumi", text, "tavo"])
    assert done.returncode == 0, done.stderr
    out = done.stdout.split("\n")[:-1]
    assert len(out) == 3 and [out[0], out[2]] == alone(["lumi", "tavo"]) and out[1].strip()
    divided = not fits(text, limit)
    told = [line for line in done.stderr.splitlines() if "in parts" in line]
    assert told == ([f"warning: 1 line has a sentence of more than {limit} tokens, which was translated in parts: line 2; "
                     "overlong refuse stops at such lines"] if divided else [])
    refused = translate("--max-input-tokens", limit, "--overlong", "refuse", lines=["lumi", text, "tavo"])
    if divided:
        assert refused.returncode == 3 and "line 2 has " in refused.stderr and f"expected at most {limit}" in refused.stderr
    else:
        assert refused.stdout == done.stdout


def pieces(text):
    done = translate("--overlong", "refuse", "--max-input-tokens", 1, lines=[text])
    return int(re.search(r"line 1 has (\d+) tokens", done.stderr)[1])


def test_clauses_are_whole_where_they_fit():
    first, second = "lumi tavo keri, paku neri dosa,", "sona mipa olin rudu vesta lumi"
    limit = max(pieces(first), pieces(second))
    assert pieces(f"{first} sona") > limit < pieces(f"{first} {second}")
    assert translate("--max-input-tokens", limit, lines=[f"{first} {second}"]).stdout == " ".join(alone([first, second])) + "\n"
    first, second = second, first[:-1]
    limit = pieces(f"{first} lumi,")  # so many would fit
    assert translate("--max-input-tokens", limit, lines=[f"{first}, {second}"]).stdout == " ".join(alone([f"{first},", second])) + "\n"


def test_words_are_whole_where_they_fit():
    words = ["lumi", "tavo", "kerisona"] * 10
    count = max(n for n in range(1, 29) if fits(" ".join(words[:n]), 12))
    assert 1 < count < 28
    parts, rest = [], words
    while rest:
        count = max(n for n in range(1, len(rest) + 1) if fits(" ".join(rest[:n]), 12))
        parts.append(" ".join(rest[:count]))
        rest = rest[count:]
    assert translate("--max-input-tokens", 12, lines=[" ".join(words)]).stdout == " ".join(alone(parts)) + "\n"


def test_a_word_is_joined_again_without_a_space():
    word, parts = "lumitavo" * 8, []
    for _ in range(100):
        rest = word[sum(map(len, parts)):]
        if not rest:
            break
        parts.append(rest[:longest(rest, 12)])
    assert len(parts) > 2
    assert translate("--max-input-tokens", 12, lines=[word]).stdout == "".join(alone(parts)) + "\n"


def test_what_learned_positions_do_not_reach_is_divided():
    model = MODEL.with_name("golden_v1_variant")
    done = translate(lines=["lumi", "lumi " * 400, "keri" * 400, "tavo"], model=model)
    assert done.returncode == 0 and len(done.stdout.split("\n")) == 5
    assert "2 lines have a sentence of more than 37 tokens, which was translated in parts: lines 2, 3;" in done.stderr


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_character_of_more_pieces_than_asked_for_is_translated(limit):
    done = translate("--max-input-tokens", limit, lines=["keri", "k天é😀a"])
    assert done.returncode == 0 and all(done.stdout.split("\n")[:-1]), done.stderr


def test_bytes_of_a_vocabulary_with_byte_fallback(tmp_path):
    """Each character of unknown script takes three pieces or four."""
    (tmp_path / "text").write_text("lumi tavo keri\n" * 50, encoding="utf-8")
    files = [f"--{name}=text" for name in ("train-source", "train-target", "valid-source", "valid-target")]
    trainer = [BUILD / "attend", "train", *files, "--output", "run", "--vocab-size", "272", "--byte-fallback",
               "--preset", "tiny", "--max-updates", "1", "--validate-every", "1", "--checkpoint-every", "1"]
    if not (BUILD / "attend-train").exists():
        pytest.skip("there is no attend-train")
    made = subprocess.run(list(map(str, trainer)), cwd=tmp_path, env={**os.environ, "ATTEND_DATA": ""}, capture_output=True, encoding="utf-8", check=False)
    assert made.returncode == 0, made.stderr
    model = tmp_path / "run" / "model"
    for text in ("天地玄黄" * 100, "😀a" * 200, "ภาษาไทย" * 50):
        done = translate("--max-input-tokens", 20, lines=[text], model=model)
        assert done.returncode == 0 and "in parts: line 1" in done.stderr, done.stderr
