"""`attend export --format` as a user sees it: what it says, and its errors."""

import json
import os
import resource
import subprocess
import sys

import attend
import pytest
import tiny_run
from directories import IDS, SHAPE, vocabulary, write
from package import GOLDEN, LANGUAGE_MODEL, LEARNED, PROGRAM, program

attend.convert = pytest.importorskip("attend.convert")
from attend.convert import export_command  # noqa: E402
from attend.convert._source import model, stack  # noqa: E402


def exported(format, directory, output, *options, python=sys.executable):
    command = [PROGRAM, "export", "--format", format, "--model", directory, "--output", output, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"ATTEND_PYTHON": python})


def test_it_says_what_it_wrote(tmp_path):
    pytest.importorskip("transformers")
    done = exported("transformers", GOLDEN, tmp_path / "hf", "--verify")
    assert done.returncode == 0, done.stderr
    order, table, scale, left_out, wrote, verified = done.stdout.splitlines()
    assert table == "changed sinusoids to those that MarianMT makes: texts may have 1,024 tokens"
    assert order.startswith("changed the order of d_model") and scale.startswith("changed the scale of weights")
    assert left_out.startswith("left out attend's length penalty")
    assert wrote == f"wrote {tmp_path / 'hf'}: MarianMT of transformers, 2 + 2 layers, 32 wide, 52 tokens, 0.0 million weights"
    assert verified.startswith("log-probabilities of 7 samples agree within ")
    assert exported("transformers", GOLDEN, tmp_path / "quiet", "--quiet").stdout == ""


def test_it_makes_models_of_ctranslate2(tmp_path):
    pytest.importorskip("ctranslate2")
    done = exported("ctranslate2", LANGUAGE_MODEL, tmp_path / "ct2", "--verify", "--positions", "200")
    assert done.returncode == 0, done.stderr
    assert "changed sinusoids to a table: texts may have 200 tokens" in done.stdout and "wrote" in done.stdout
    assert "log-probabilities of 8 samples agree within" in done.stdout


def test_it_refuses(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    for format, directory, output, python, status, part in (
        ("transformers", tmp_path / "gone", "out", sys.executable, 3, "gone"),
        ("transformers", LANGUAGE_MODEL, "out", sys.executable, 3, "is no model that attend writes for transformers"),
        ("ctranslate2", LEARNED, "out", sys.executable, 3, "encoder.d_k is 5, which CTranslate2 lacks; expected d_model / heads"),
        ("transformers", tmp_path / "gone", "file", sys.executable, 2, "exists; remove it or choose another name"),
        ("transformers", GOLDEN, "out", "/bin/false", 2, "attend export needs the Python package")):
        done = exported(format, directory, tmp_path / output, python=python)
        assert done.returncode == status and done.stderr.startswith("attend export") and part in done.stderr, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_a_disk_that_is_full_is_one_line(tmp_path):
    """As far as a limit of the size of files tells it."""
    for format, package in (("transformers", "transformers"), ("ctranslate2", "ctranslate2")):
        pytest.importorskip(package)
        command = [PROGRAM, "export", "--format", format, "--model", GOLDEN, "--output", tmp_path / "out"]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ | {"ATTEND_PYTHON": sys.executable},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000)))
        assert done.returncode == 1 and "File too large" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
        assert not list(tmp_path.iterdir())


def export_here(format, directory, output):
    """The status of `attend export` in this process, with --verify."""
    options = {"format": format, "model": str(directory), "output": str(output), "positions": 1024, "verify": True, "quiet": False}
    return export_command.main(options)


@pytest.mark.parametrize(("format", "missing", "part"), [
    ("transformers", "transformers", "--verify needs the package transformers: pip install torch transformers"),
    ("ctranslate2", "ctranslate2", "--format ctranslate2 needs the package ctranslate2: pip install ctranslate2"),
    ("transformers", "safetensors", "needs the package safetensors: pip install safetensors")])
def test_a_missing_package_is_named(format, missing, part, monkeypatch, capsys, tmp_path):
    monkeypatch.delitem(sys.modules, "ctranslate2.specs", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    assert export_here(format, GOLDEN, tmp_path / "out") == 1
    assert part in capsys.readouterr().err


def test_what_can_not_be_compared_is_told_first(tmp_path):
    program("quantize", GOLDEN, "--output", tmp_path / "int8")
    done = exported("transformers", tmp_path / "int8", tmp_path / "out", "--verify")
    assert done.returncode == 3 and "is int8, whose products are rounded; leave it out" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_wrong_export_is_found(tmp_path, monkeypatch, capsys):
    pytest.importorskip("transformers")
    content = vocabulary(tmp_path)
    config = model(task="language_model", target_vocab_size=110, special_ids=IDS, decoder=stack(**(SHAPE | {"norm_place": "pre"})))
    directory = write(tmp_path / "model", config, content)
    samples = json.loads((directory / "samples.json").read_text(encoding="utf-8"))
    samples[0]["token_log_probabilities"][0] += 1e-3
    samples[0]["score"] += 1e-3
    (directory / "samples.json").write_text(json.dumps(samples), encoding="utf-8")
    assert export_here("transformers", directory, tmp_path / "out") == 1
    assert "the samples differ by 1.0e-03, expected less than 1.0e-04" in capsys.readouterr().err


def test_the_page_of_python():
    pytest.importorskip("transformers")
    assert tiny_run.run_page_block("attend.convert.export", {"en-de": GOLDEN}).startswith("MarianMT of transformers ")
