"""Commands that run in Python: modules of the working directory were imported, foreign names drove terminals, and outputs replaced what they should fill."""

import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/http"))
from printable_test import HOSTILE, is_printable  # noqa: E402
from server import ATTEND, BUILD, MODEL  # noqa: E402

sys.path.append(str(BUILD / "python"))
pytest.importorskip("attend")
from attend._whole import whole  # noqa: E402


def attend(*arguments, cwd=None):
    return subprocess.run([ATTEND, *arguments], cwd=cwd, capture_output=True, encoding="utf-8", timeout=120, check=False)


@pytest.fixture(name="trap")
def a_folder_of_modules(tmp_path):
    """Which write a file where anything imports them."""
    for name in ("numpy", "safetensors", "torch", "polib", "attend", "json", "runpy", "signal", "pymarian", "zipfile"):
        (tmp_path / f"{name}.py").write_text("import pathlib; pathlib.Path(__file__).with_name('imported').touch()\n")
    return tmp_path


def test_modules_of_the_working_directory_are_not_imported(trap):
    (trap / "config.json").write_text(json.dumps({"architectures": ["Nothing"], "model_type": "nothing"}))
    done = attend("import", ".", cwd=trap)
    assert done.returncode == 3 and "nothing" in done.stderr, done.stderr
    (trap / "a.po").write_text('msgid "lumi"\nmsgstr ""\n')
    done = attend("translate-file", MODEL, "a.po", "b.po", cwd=trap)
    assert done.returncode == 0 or "pip install" in done.stderr, done.stderr
    attend("compare", "a", "b", cwd=trap)
    attend("distill", "--teacher", MODEL, "--config", "a.toml", "--source", "a", "--target", "b", "--output", "run", cwd=trap)
    assert not (trap / "imported").exists()


def test_errors_and_results_are_printable(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"architectures": [HOSTILE], "model_type": "bert"}))
    done = attend("import", tmp_path)
    assert done.returncode == 3
    for line in (done.stdout + done.stderr).removesuffix("\n").split("\n"):
        assert is_printable(line) and not line.startswith("attend: all is well"), line


def test_a_link_stays_and_its_file_changes(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    with whole(tmp_path / "link") as unfinished:
        unfinished.write_text("new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


def test_what_is_no_file_is_written_into(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "fifo").read_text()))
    reader.start()
    with whole(tmp_path / "fifo") as unfinished:
        unfinished.write_text("text")
    reader.join(60)
    assert read == ["text"] and stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("before", [False, True])
def test_a_signal_ends_a_command_and_leaves_nothing_unfinished(tmp_path, sent, before):
    work = f"""
import pathlib, time
from attend._whole import interruptible, whole
def work():
    if {before}:
        with whole(pathlib.Path("first")) as path: path.write_text("whole")
    with whole(pathlib.Path("second")) as path:
        path.mkdir(); (path / "part").touch(); print("held", flush=True); time.sleep(600)
interruptible("attend test", work)
"""
    environment = os.environ | {"PYTHONPATH": str(BUILD / "python")}
    with subprocess.Popen([sys.executable, "-c", work], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        process.send_signal(sent)
        errors = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + sent
    assert errors == f"attend test: interrupted; {'what it wrote before is whole' if before else 'nothing was written'}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["first"] * before
