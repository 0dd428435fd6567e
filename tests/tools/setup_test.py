"""tools/setup, with stand-ins for what installs: which LibTorch it takes."""

import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def set_up(folder, answer):
    """Runs the set-up in a folder of its own, where pip answers so to the lock file of the build for CPUs."""
    (folder / "tools").mkdir()
    shutil.copy(ROOT / "tools/setup", folder / "tools")
    (folder / "tools/packages.txt").write_text("programs: nothing\n", encoding="utf-8")
    (folder / "tools/lock").write_text("", encoding="utf-8")
    for name in ("", "_cpu", "_gpu"):
        (folder / f"tools/requirements{name}.lock").write_text("torch==2.13.0+cpu --hash=sha256:0\n", encoding="utf-8")
    for path, text in {"tools/install_packages": "", ".venv/bin/python": "",
                       "tools/install_locked": f'echo "$2" >>installed\ncase "$2" in *_cpu*) {answer} ;; esac'}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (folder / path).chmod(0o755)
    (folder / ".deps/sentencepiece-0.2.1").mkdir(parents=True)
    (folder / ".deps/sentencepiece-0.2.1/.done").touch()
    done = subprocess.run([folder / "tools/setup", "--programs"], capture_output=True, text=True, check=False)
    return done, [pathlib.Path(line).stem for line in (folder / "installed").read_text(encoding="utf-8").splitlines()]


def test_the_build_for_cpus_is_taken_where_there_is_one(tmp_path):
    done, installed = set_up(tmp_path, "exit 0")
    assert (done.returncode, installed) == (0, ["requirements", "requirements_cpu"])


@pytest.mark.parametrize("error", ["ERROR: No matching distribution found for torch==2.13.0+cpu",
                                   "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."])
def test_pypis_is_taken_where_there_is_none(tmp_path, error):
    done, installed = set_up(tmp_path, f"echo '{error}' >&2; exit 1")
    assert (done.returncode, installed) == (0, ["requirements", "requirements_cpu", "requirements_gpu"])
    assert "pip finds no torch==2.13.0+cpu; taking PyPI's" in done.stdout


def test_another_failure_is_told_and_ends_it(tmp_path):
    done, installed = set_up(tmp_path, "echo 'ERROR: No space left on device' >&2; exit 1")
    assert (done.returncode, installed) == (1, ["requirements", "requirements_cpu"])
    assert "No space left on device" in done.stderr and "requirements_cpu.lock" in done.stderr
    assert not list((tmp_path / ".venv").glob(".attend-????????????????"))
