"""Streamed training takes no more memory for a long text than for a short one, from its start on."""

import os
import subprocess

import tiny_run


def peak_bytes(options, output):
    """The most memory that a whole run had."""
    with subprocess.Popen(tiny_run.command_line(options, output), env=tiny_run.environment()) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * 1024


def test_peak_memory_does_not_depend_on_the_length_of_the_text(tmp_path):
    options = tiny_run.prepare(tmp_path) | {"stream": [], "max_updates": 2, "shuffle_buffer": 1000}
    short = peak_bytes(options, tmp_path / "short")
    for side in ("train.en", "train.de"):
        lines = (tmp_path / side).read_text(encoding="utf-8").splitlines()
        block = "".join(" ".join(lines[k : k + 10]) + "\n" for k in range(0, len(lines), 10)).encode()
        with (tmp_path / side).open("wb") as file:
            for _ in range(60000):
                file.write(block)
    total = sum((tmp_path / side).stat().st_size for side in ("train.en", "train.de"))
    assert total > 300 << 20
    long = peak_bytes(options, tmp_path / "long")
    print(f"{short / 1e6:.0f} MB with a short text, {long / 1e6:.0f} MB with {total / 1e6:.0f} MB")
    assert long < short + (32 << 20)
