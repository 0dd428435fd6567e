"""What the tests of packages share: programs that must succeed, skips where one is missing, and empty roots."""

import os
import shutil
import subprocess

import pytest


def run(*command, **more):
    """Standard output of a command that must succeed."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def need(*programs):
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed: {' '.join(missing)}")


def make_root(release, folder, *packages):
    """A folder with Debian's minimal system and these packages of it."""
    need("debootstrap")
    if os.geteuid() != 0:
        pytest.skip("only root makes a root")
    include = [f"--include={','.join(packages)}"] if packages else []
    run("debootstrap", "--variant=minbase", *include, release, folder, "http://deb.debian.org/debian")
    return folder
