"""A job that ended early said nothing of the lines that it had cut, divided or read with unknown characters."""

import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ATTEND = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build")) / "attend"
COMMAND = (ATTEND, "translate", "--model", ROOT / "tests/data/golden_v1", "--beam-size", "1", "--max-length", "3", "--max-input-tokens", "20",
           "--threads", "1")
# Line 1 is cut, line 2 divided, line 3 has a character that the vocabulary lacks; so it goes on.
LINES = ["lumi tavo keri", "lumi " * 30, "天 lumi"] * 200
CUT, DIVIDED, UNKNOWN = (rf"^warning: (\d+) (?:translation|line)s? {part}" for part in
                         ("w\\w+ cut at the maximum length", "ha\\w+ a sentence of more than 20 tokens", "ha\\w+ characters that"))


def counts(errors):
    """Of cut, divided and unknown lines; 0 where standard error does not tell."""
    found = [re.findall(part, errors, flags=re.M) for part in (CUT, DIVIDED, UNKNOWN)]
    assert all(len(numbers) <= 1 for numbers in found), errors
    return [int(numbers[0]) if numbers else 0 for numbers in found]


def translate(*arguments, lines):
    return subprocess.run([*COMMAND, *map(str, arguments)], input="".join(f"{line}\n" for line in lines), capture_output=True, encoding="utf-8",
                          errors="surrogateescape", timeout=300, check=False)


def test_a_signal_tells_what_this_call_counted(tmp_path):
    whole = counts(translate(lines=LINES).stderr)
    assert whole[1:] == [200, 200] and whole[0] > 200
    journal = tmp_path / "out.partial.jsonl"
    with subprocess.Popen([*COMMAND, "--output", tmp_path / "out"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8") as process:
        process.stdin.write("".join(f"{line}\n" for line in LINES[:300]))
        process.stdin.flush()
        deadline = time.monotonic() + 300
        while not journal.exists() or '"lines":300' not in journal.read_text(encoding="utf-8").replace(" ", ""):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=300) == 143
        errors = process.stderr.read()
    first = counts(errors)
    assert first[1:] == [100, 100]
    assert errors.splitlines()[-1].startswith("warning: stopped by a signal")
    done = translate("--output", tmp_path / "out", "--resume", lines=LINES)
    assert done.returncode == 0
    assert [a + b for a, b in zip(first, counts(done.stderr))] == whole


@pytest.mark.parametrize("output", ["-", "file"])
def test_an_error_tells_what_this_call_counted(output, tmp_path):
    lines = ["lumi tavo keri", "天 lumi", "lumi " * 30]
    done = translate("--overlong", "refuse", "--output", tmp_path / "out" if output == "file" else "-", lines=lines)
    assert done.returncode == 3
    assert counts(done.stderr)[1:] == [0, 1] and counts(done.stderr)[0] == 2
    assert "line 3 has " in done.stderr.splitlines()[-1]


def test_an_error_tells_of_malformed_text():
    done = translate("--overlong", "refuse", lines=["lumi \udcff tavo", "lumi " * 30])
    assert done.returncode == 3
    assert "warning: 1 malformed UTF-8 sequence in standard input became U+FFFD\n" in done.stderr
