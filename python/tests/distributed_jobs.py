"""Files for jobs of attend.distributed, what one process makes of them, and processes to kill."""

import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet
from package import ENVIRONMENT, GOLDEN, program

WORDS = "lumi tavo keri sona mipa rudu vesta olin paku neri dosa".split()
FAST = {"beam_size": 1, "max_length": 8}
SLOW = {"beam_size": 16, "max_length": 60, "min_length": 60}  # so that there is time to kill somebody


def texts(count, seed=1):
    numbers = random.Random(seed)
    return [" ".join(numbers.choices(WORDS, k=numbers.randint(0, 8))) for _ in range(count)]


def write_lines(path, lines, end="\n"):
    path.write_bytes("".join(line + end for line in lines).encode())
    return path


def write_json(path, lines):
    rows = [{"id": number, "english": line or None, "ünït": 1.5} for number, line in enumerate(lines)]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return rows


def write_parquet(path, lines, group=50):
    table = pa.table({"id": range(len(lines)), "english": pa.array([line or None for line in lines])})
    pyarrow.parquet.write_table(table, path, row_group_size=group)
    return table


def by_program(path, output, options):
    """What `attend translate` makes of the whole file."""
    arguments = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
    program("translate", "--model", GOLDEN, "--input", path, "--output", output, "--quiet", *arguments)
    return output.read_bytes()


def content(folder):
    """The parts, joined in the order of their names."""
    return b"".join(path.read_bytes() for path in parts(folder))


def parts(folder):
    return sorted(folder.glob("part-*"))


def arguments(inputs, output, options, *more):
    """Of the command."""
    settings = [part for name, value in options.items() for part in ("--set", f"{name}={value}")]
    return [GOLDEN, inputs, "--output", output, *settings, *more]


def start(*command, **environment):
    """`python -m attend.distributed`, or `python -c` with code, in a group of processes of its own."""
    command = command if command[0] == "-c" else ("-m", "attend.distributed", *command)
    return subprocess.Popen(
        [sys.executable, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        env=ENVIRONMENT | environment)


def finished(process, timeout=600):
    """What the process said, once it has ended well."""
    said, _ = process.communicate(timeout=timeout)
    assert process.returncode == 0, said
    return said


def wait_for_parts(folder, count, process, timeout=300):
    """Until so many are there, while the process still runs."""
    end = time.monotonic() + timeout
    while len(parts(folder)) < count:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < end, f"{folder} has {len(parts(folder))} parts"
        time.sleep(0.02)
    return {path: path.stat().st_mtime_ns for path in parts(folder)}


def below(process):
    """Processes that this one and its children started: id -> command line."""
    parents, commands = {}, {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            commands[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    found, news = {}, {process}
    while news := {pid for pid, parent in parents.items() if parent in news}:
        found |= {pid: commands[pid] for pid in news}
    return found


def kill_one(root, word, timeout=60):
    """One of the processes below `root` that has the word in its command line."""
    end = time.monotonic() + timeout
    while not (pids := [pid for pid, command in below(root).items() if word in command]):
        assert time.monotonic() < end, f"no {word} in {below(root)}"
        time.sleep(0.1)
    os.kill(pids[0], signal.SIGKILL)
    return pids[0]


def check_unchanged(before, folder):
    """The parts that were there have not been made again."""
    after = {path: path.stat().st_mtime_ns for path in parts(folder)}
    assert {path.name for path, time in before.items() if after[path] != time} == set()
    assert len(before) < len(after)
