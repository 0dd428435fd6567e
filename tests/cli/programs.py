"""Runs the programs of a build as a user does; what the tests of tests/cli share."""

import functools
import os
import pathlib
import re
import subprocess

BUILD = pathlib.Path(os.environ.get("BUILD_DIR", pathlib.Path(__file__).resolve().parents[2] / "build"))
ATTEND = BUILD / "attend"


def attend(*arguments, stdin="", **options):
    """Runs `attend` to its end; text in and out, bytes that are not UTF-8 kept as surrogates."""
    environment = {**os.environ, **options.pop("env", {})}
    return subprocess.run(
        [ATTEND, *map(str, arguments)], input=stdin, capture_output=True, encoding="utf-8", errors="surrogateescape",
        timeout=300, check=False, env=environment, **options)


def told(errors):
    """Standard error without what it says of translations that were cut (a model of random weights seldom ends one by itself) and of unknown characters."""
    hidden = " cut at the maximum length", " that the model's vocabulary lacks"
    return "".join(line for line in errors.splitlines(keepends=True) if not any(part in line for part in hidden))


def commands():
    """Every command of the program that this build can run."""
    names = re.findall(r"^  ([a-z-]+) +\S", attend("--help").stdout.split("commands:")[1], flags=re.M)
    has_trainer = (BUILD / "attend-train").exists()
    return [name for name in names if has_trainer or name not in ("train", "export")]


@functools.cache
def markdown(command):
    """The command's part of docs/options.md, as it prints it."""
    return attend(command, "--help-markdown").stdout


def options(command):
    """Option name -> what it takes, from the command's own list."""
    return dict(re.findall(r"^\| `--([\w.-]+)` \| (.*?[^\\]) \|", markdown(command), flags=re.M))


def positionals(command):
    return re.findall(r"^`([A-Z_]+)`: ", markdown(command), flags=re.M)


def refused(done, status, *parts):
    """The run ended with `status` and one line on standard error that holds `parts`; nothing on standard output."""
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith(("attend: ", "attend ")), done.stderr
    assert "internal error" not in done.stderr and "exception" not in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""
    for part in parts:
        assert str(part) in done.stderr, done.stderr
