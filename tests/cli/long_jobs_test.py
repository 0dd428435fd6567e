"""Long jobs of `attend translate`: killed, stopped or failing at any point they lose no finished line."""

import gzip
import json
import os
import pathlib
import random
import re
import resource
import select
import signal
import subprocess
import time

import pytest
from programs import ATTEND, BUILD, attend, refused, told as without_cuts

MODEL = pathlib.Path(__file__).resolve().parents[1] / "data/golden_v1"
WORDS = "lumi tavo keri paku neri dosa ilvo sane".split()
OPTIONS = ("--model", MODEL, "--beam-size", 1, "--max-length", 8, "--threads", 1)
NAMES = ["out", "out.gz", "out.zst"]


def merged(*arguments):
    """OPTIONS and `arguments`, of which a later one replaces an earlier one of the same name."""
    given = {}
    for word in map(str, (*OPTIONS, *arguments)):
        if word.startswith("--"):
            name = word
            given[name] = []
        else:
            given[name].append(word)
    return [word for name, values in given.items() for word in (name, *values)]


def command(*arguments):
    return [ATTEND, "translate", *merged(*arguments)]


def translate(*arguments, **options):
    return attend("translate", *merged(*arguments), **options)


def make_text(count):
    source = random.Random(5)
    return "".join(" ".join(source.choices(WORDS, k=source.randint(0, 9))) + "\n" for _ in range(count))


@pytest.fixture(name="text", scope="module")
def write_text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text"
    path.write_text(make_text(5000), encoding="utf-8")
    return path


def finished(out):
    """Lines whose output is in the partial file, by its journal; 0 where there is none."""
    try:
        lines = pathlib.Path(f"{out}.partial.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    except FileNotFoundError:
        return 0
    return json.loads(lines[-1]).get("lines", 0) if lines else 0


def wait_for(condition, process=None):
    deadline = time.monotonic() + 300
    while not condition() and (process is None or process.poll() is None):
        assert time.monotonic() < deadline
        time.sleep(0.001)


def plain(path):
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes()).decode()
    if path.suffix == ".zst":  # attend reads what it writes; compressor_test reads it too
        same = translate("--input", path, "--max-length", 1)
        assert same.returncode == 0, same.stderr
        return None
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name, extra", [("out", ()), ("out.gz", ()), ("out.zst", ()), ("out", ("--shard", "2/3")), ("out", ("--beam-size", 2, "--n-best", 2, "--scores")),
                                         ("out", ("--target-prefix", "TEXT"))])
def test_a_job_killed_again_and_again_gives_the_bytes_of_an_unbroken_one(name, extra, text, tmp_path):
    """It began anew each time."""
    whole, out = tmp_path / "whole" / name, tmp_path / name
    extra = [text if word == "TEXT" else word for word in extra]
    whole.parent.mkdir()
    assert translate(*extra, "--input", text, "--output", whole).returncode == 0
    kills, delays = 0, random.Random(7)
    while not out.exists():
        before = finished(out)
        with subprocess.Popen(command(*extra, "--quiet", "--input", text, "--output", out, "--resume")) as process:
            wait_for(lambda: finished(out) > before, process)
            time.sleep(delays.random() / 50)
            process.kill()
        kills += process.returncode == -signal.SIGKILL
        assert out.exists() or finished(out) > before
    assert kills > 1 and out.read_bytes() == whole.read_bytes()
    if process.returncode != 0:  # killed after the output had appeared
        assert translate(*extra, "--input", text, "--output", out, "--resume").returncode == 0
        assert out.read_bytes() == whole.read_bytes()
    assert sorted(os.listdir(tmp_path)) == sorted([name, "whole"])


@pytest.mark.parametrize("name", NAMES)
def test_compressed_output_holds_the_plain_text(name, text, tmp_path):
    """A name that ends in .gz got plain text."""
    expected = translate("--input", text).stdout
    assert translate("--input", text, "--output", tmp_path / name).returncode == 0
    got = plain(tmp_path / name)
    assert got is None or got == expected
    assert name == "out" or len((tmp_path / name).read_bytes()) < len(expected) / 3


@pytest.mark.parametrize("how, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_leaves_what_was_translated(how, status, text, tmp_path):
    """Nothing stayed."""
    out, lines = tmp_path / "out", text.read_text(encoding="utf-8").splitlines(keepends=True)[:700]
    out.write_text("old", encoding="utf-8")
    heard = lambda: signal.signal(how, signal.SIG_DFL)  # whoever started the tests may ignore it
    with subprocess.Popen(command("--output", out), stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heard) as process:
        process.stdin.write("".join(lines[:600]))
        process.stdin.flush()
        wait_for(lambda: finished(out) == 600)  # it waits for more now
        process.send_signal(how)
        assert process.wait(timeout=300) == status
        told = process.stderr.read()
    told = without_cuts(told)
    assert "stopped by a signal" in told and "600 lines" in told and "--resume" in told and told.count("\n") == 1
    assert out.read_text(encoding="utf-8") == "old"
    done = translate("--output", out, "--resume", stdin="".join(lines))
    assert done.returncode == 0 and "600 lines" in done.stderr
    assert out.read_text(encoding="utf-8") == translate(stdin="".join(lines)).stdout
    assert os.listdir(tmp_path) == ["out"]


def test_a_signal_before_the_first_line_leaves_nothing(tmp_path):
    with subprocess.Popen(command("--output", tmp_path / "out"), stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: (tmp_path / "out.partial").exists())
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=300) in (143, -signal.SIGTERM)  # the latter where it came before anything was ready
    if process.returncode == 143:
        assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not (BUILD / "attend-train").exists(), reason="the program attend-train is not built")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_model_that_libtorch_runs(how):
    """They stayed blocked in the program that was started in place of this one."""
    heard = lambda: signal.signal(how, signal.SIG_DFL)
    with subprocess.Popen(command("--device", "cpu"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=heard) as process:
        process.stdin.write(b"lumi\n")
        process.stdin.flush()
        assert process.stdout.readline().endswith(b"\n")  # it waits for more now
        process.send_signal(how)
        assert process.wait(timeout=60) == -how


def test_an_ignored_signal_stays_ignored(tmp_path):
    """As nohup and shells start programs in the background."""
    out = tmp_path / "out"
    with subprocess.Popen(["nohup", *command("--output", out)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        process.stdin.write(b"lumi\n")
        process.stdin.flush()
        wait_for(lambda: finished(out) == 1)
        process.send_signal(signal.SIGHUP)
        process.stdin.write(b"tavo\n")
        process.stdin.close()
        assert process.wait(timeout=300) == 0
    assert out.read_text(encoding="utf-8").count("\n") == 2


@pytest.fixture(name="stopped")
def stop_a_job(text, tmp_path):
    """A job that failed at line 1025, and its input."""
    out, lines = tmp_path / "out", text.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[1024] = "lumi " * 600 + "\n"
    done = translate("--output", out, "--overlong", "refuse", stdin="".join(lines))
    assert done.returncode == 3 and done.stdout == "" and without_cuts(done.stderr).count("\n") == 1
    assert "line 1025 has " in done.stderr and "1024 lines is in" in done.stderr and "--resume" in done.stderr
    assert finished(out) == 1024
    return out, lines


def test_finished_lines_are_never_overwritten_in_silence(stopped):
    out, lines = stopped
    before = pathlib.Path(f"{out}.partial").read_bytes()
    refused(translate("--output", out, "--overlong", "refuse", stdin="".join(lines)), 2, f"{out}.partial", "1024 lines", "--resume", "removing")
    assert pathlib.Path(f"{out}.partial").read_bytes() == before
    os.remove(f"{out}.partial")
    lines[1024] = "lumi\n"
    assert translate("--output", out, stdin="".join(lines)).returncode == 0
    assert os.listdir(out.parent) == ["out"]


def test_a_line_that_failed_may_be_mended_before_it_goes_on(stopped):
    out, lines = stopped
    lines[1024] = "lumi\n"
    assert translate("--output", out, "--overlong", "refuse", "--resume", stdin="".join(lines)).returncode == 0
    assert out.read_text(encoding="utf-8") == translate("--overlong", "refuse", stdin="".join(lines)).stdout


@pytest.mark.parametrize("change, parts", [
    (("--max-length", 9), ("max_length was 8, now it is 9",)), (("--overlong", "split"), ("overlong was \"refuse\"",)),
    (("--scores",), ("scores was false, now it is true",)), (("--type", "int8"), ("type",)), (("--model", MODEL.with_name("golden_v1_variant")), ("model was",))])
def test_what_is_not_as_it_was_is_named(change, parts, stopped):
    out, lines = stopped
    arguments = ("--output", out, "--overlong", "refuse", "--resume")
    refused(translate(*arguments, *change, stdin="".join(lines)), 2, f"{out}.partial", "remove it", *parts)
    assert finished(out) == 1024


def test_another_input_is_named(stopped):
    out, lines = stopped
    arguments = ("--output", out, "--overlong", "refuse", "--resume", "--quiet")
    fewer = translate(*arguments, stdin="".join(lines[:700]))
    refused(fewer, 3, "the input has 700 lines", "output of 1024 is there", "to start again\n")
    lines[900] = "other\n"
    other = translate(*arguments, stdin="".join(lines))
    refused(other, 3, "lines 513 to 1024 of the input", "differ from those", "to start again\n")
    assert finished(out) == 1024


def test_what_changes_no_byte_may_be_another(stopped):
    out, lines = stopped
    lines[1024] = "lumi\n"
    done = translate("--output", out, "--overlong", "refuse", "--resume", "--threads", 2, "--batch-tokens", 100, stdin="".join(lines))
    assert done.returncode == 0, done.stderr
    assert out.read_text(encoding="utf-8") == translate(stdin="".join(lines)).stdout


def test_two_at_once_are_refused(tmp_path):
    out = tmp_path / "out"
    with subprocess.Popen(command("--output", out), stdin=subprocess.PIPE) as process:
        wait_for(lambda: (tmp_path / "out.partial.jsonl").exists())
        for resume in ((), ("--resume",)):
            refused(translate("--output", out, *resume, stdin="lumi\n"), 2, "another process")
        process.stdin.write(b"lumi\n")
        process.stdin.close()
        assert process.wait(timeout=300) == 0
    assert out.read_text(encoding="utf-8").count("\n") == 1


def test_resume_wants_a_file_and_begins_where_there_is_none(tmp_path):
    refused(translate("--resume", stdin="lumi\n"), 2, "--resume", "standard output")
    refused(translate("--resume", "--output", "/dev/null", stdin="lumi\n"), 2, "--resume", "/dev/null")
    assert translate("--resume", "--output", tmp_path / "out", stdin="lumi\n").returncode == 0
    assert (tmp_path / "out").read_text(encoding="utf-8") == translate(stdin="lumi\n").stdout


def test_a_file_of_the_partials_name_that_is_none_is_left_alone(tmp_path):
    (tmp_path / "out.partial").write_text("mine\n", encoding="utf-8")
    for resume in ((), ("--resume",)):
        refused(translate("--output", tmp_path / "out", *resume, stdin="lumi\n"), 2, "out.partial", "remove or rename")
    assert (tmp_path / "out.partial").read_text(encoding="utf-8") == "mine\n" and os.listdir(tmp_path) == ["out.partial"]


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_keeps_what_fitted(name, text, tmp_path):
    """All of it was lost. The limit stands for a disk: what grows beyond it fails."""
    whole, out = tmp_path / "whole" / name, tmp_path / name
    whole.parent.mkdir()
    assert translate("--input", text, "--output", whole).returncode == 0
    size = len(translate("--input", text).stdout.encode())
    for room in (2000, size // 3, size // 2, size - 1, size):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        done = translate("--quiet", "--input", text, "--output", out, "--resume", preexec_fn=limit)
        if done.returncode != 0:
            assert done.returncode == 1 and "File too large" in done.stderr and without_cuts(done.stderr).count("\n") == 1
            assert not out.exists() and ("--resume" in done.stderr) == (room > 8000)
            assert (finished(out) > 0) == (room > 8000)
    assert translate("--quiet", "--input", text, "--output", out, "--resume").returncode == 0
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("extra", [(), ("--n-best", 2, "--beam-size", 2, "--alignments"), ("--target-prefix", "TEXT")])
@pytest.mark.parametrize("shards, lines", [(3, 1000), (4, 3), (2, 0)])
def test_the_outputs_of_shards_are_that_of_the_file(shards, lines, extra, tmp_path):
    source = make_text(lines)
    (tmp_path / "text").write_text(source, encoding="utf-8")
    (tmp_path / "text.gz").write_bytes(gzip.compress(source.encode()))
    extra = [tmp_path / "text" if word == "TEXT" else word for word in extra]
    parts = {name: "" for name in ("text", "text.gz")}
    for name in parts:
        for shard in range(1, shards + 1):
            done = translate("--input", tmp_path / name, "--shard", f"{shard}/{shards}", *extra)
            assert (done.returncode, without_cuts(done.stderr)) == (0, "")
            parts[name] += done.stdout
    assert parts["text"] == parts["text.gz"] == translate(*extra, stdin=source).stdout


def test_another_file_of_target_prefixes_is_another_job(text, tmp_path):
    prefixes, out = tmp_path / "prefixes", tmp_path / "out"
    prefixes.write_text("lumi\n" * 5000, encoding="utf-8")
    arguments = ("--input", text, "--output", out, "--target-prefix", prefixes, "--resume")
    with subprocess.Popen(command(*arguments, "--quiet")) as process:
        wait_for(lambda: finished(out) > 0, process)
        process.kill()
    prefixes.write_text("tavo\n" * 5000, encoding="utf-8")
    refused(translate(*arguments), 2, "target_prefix")
    prefixes.write_text("lumi\n" * 10, encoding="utf-8")
    done = translate("--input", text, "--target-prefix", prefixes)
    assert done.returncode == 3 and "different numbers of lines" in done.stderr


def test_errors_of_a_shard_name_the_line_of_the_file(tmp_path):
    (tmp_path / "text").write_text("lumi\n" * 5 + "lumi " * 600 + "\n", encoding="utf-8")
    done = translate("--input", tmp_path / "text", "--shard", "2/2", "--overlong", "refuse")
    assert done.returncode == 3 and "line 6 has " in done.stderr and done.stdout.count("\n") == 2


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/2/3", " 1/2"])
def test_what_is_no_shard_is_refused(shard, text):
    refused(translate("--input", text, f"--shard={shard}"), 2, "--shard", f"'{shard}'", "I/N")


def test_shards_of_what_has_no_count_of_lines_are_refused(tmp_path):
    refused(translate("--shard", "1/2", stdin="lumi\n"), 2, "--shard", "standard input")
    os.mkfifo(tmp_path / "pipe")
    refused(translate("--shard", "1/2", "--input", tmp_path / "pipe"), 2, "--shard", "no regular file")


def test_another_shard_is_not_gone_on_with(text, tmp_path):
    lines = text.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[2400] = "lumi " * 600 + "\n"
    (tmp_path / "text").write_text("".join(lines), encoding="utf-8")
    arguments = ("--input", tmp_path / "text", "--output", tmp_path / "out", "--overlong", "refuse", "--resume")
    assert translate(*arguments, "--shard", "1/2").returncode == 3
    refused(translate(*arguments, "--shard", "2/2"), 2, "shard was \"1/2\", now it is \"2/2\"")
    (tmp_path / "text").write_text("".join(lines + ["lumi\n"] * 10), encoding="utf-8")
    refused(translate(*arguments, "--shard", "1/2"), 2, "lines/last was 2500, now it is 2505")


@pytest.mark.parametrize("packed", [False, True])
def test_progress_is_told_on_standard_error(packed, text, tmp_path):
    source = tmp_path / "text.gz" if packed else text
    if packed:
        source.write_bytes(gzip.compress(text.read_bytes()))
    done = translate("--input", source, "--progress", 0.0001)
    lines = without_cuts(done.stderr).splitlines()
    assert len(lines) > 2 and lines[0].startswith("line 512 (")
    for line in lines[:-1]:
        assert re.fullmatch(r"line \d+ \(\d+ %\), \d+\.\d lines/s, \d+ tokens/s, .*\d (s|min|h) left", line), line
    assert re.fullmatch(r"5000 lines in \d+ s \(\d+\.\d lines/s, \d+ tokens/s\)", lines[-1])
    assert without_cuts(translate("--input", text, "--progress", 0.0001, "--quiet").stderr) == ""
    assert without_cuts(translate("--input", text, "--progress", 0).stderr) == ""
    piped = translate("--progress", 0.0001, stdin=text.read_text(encoding="utf-8")).stderr
    assert "line 512, " in piped and "left" not in piped


def test_a_terminal_has_one_line_of_progress(text, tmp_path):
    controller, terminal = os.openpty()
    arguments = ("--input", text, "--output", tmp_path / "out", "--progress", 0.0001)
    with subprocess.Popen(command(*arguments), stderr=terminal, stdin=subprocess.DEVNULL) as process:
        os.close(terminal)
        told = b""
        while select.select([controller], [], [], 60)[0]:
            try:
                told += os.read(controller, 1 << 16)
            except OSError:  # the other end is closed
                break
        assert process.wait(timeout=300) == 0
    os.close(controller)
    all_told = without_cuts(told.decode())
    shown = all_told.split("\r")
    assert len([each for each in shown if each.startswith("line ")]) > 2
    assert all_told.count("\n") == 1 and "5000 lines in" in shown[-2]
