"""attend quantize and attend shortlist, on the model kept under tests/data."""

import json
import pathlib
import shutil

import pytest
from programs import attend, refused

MODEL = pathlib.Path(__file__).resolve().parents[1] / "data/golden_v1"
LINES = "lumi tavo keri\n\nneri dosa\n"


@pytest.fixture(name="int8", scope="module")
def quantize(tmp_path_factory):
    model = tmp_path_factory.mktemp("quantize") / "int8"
    done = attend("quantize", MODEL, "--output", model, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["bytes"] < report["bytes_before"]
    return model


def test_a_name_that_is_not_utf8_does_not_stop_the_report(tmp_path):
    done = attend("quantize", MODEL, "--output", tmp_path / "a\udcff", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["model"] == f"{tmp_path}/a\ufffd"


def test_a_quantized_model_proves_itself_on_every_instruction_set(int8):
    done = attend("verify", int8, "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["good"], report["tolerance"]) == (0, True, 1e-4)
    assert report["samples"] > 0 and "reference" in report["instruction_sets"]


def test_quantized_then_or_now_a_translation_is_the_same(int8):
    stored = attend("translate", "--model", int8, "--scores", stdin=LINES)
    now = attend("translate", "--model", MODEL, "--type", "int8", "--scores", stdin=LINES)
    assert stored.returncode == now.returncode == 0
    assert stored.stdout == now.stdout
    assert stored.stdout != attend("translate", "--model", MODEL, "--scores", stdin=LINES).stdout


def test_scores_and_attention_are_those_of_the_type(int8, tmp_path):
    (tmp_path / "text").write_text(LINES, encoding="utf-8")

    def told(model, *options):
        pairs = ["--source", tmp_path / "text", "--target", tmp_path / "text"]
        done = attend("attention", "--model", model, "--source", "lumi", "--output", tmp_path / "a.json", *options)
        assert done.returncode == 0, done.stderr
        return attend("score", "--model", model, *pairs, *options).stdout, (tmp_path / "a.json").read_text(encoding="utf-8")

    assert told(MODEL, "--type", "int8") == told(int8)
    assert all(one != other for one, other in zip(told(MODEL), told(int8)))


def test_int8_weights_do_not_become_f32_again(int8, tmp_path):
    refused(attend("translate", "--model", int8, "--type", "f32", stdin=LINES), 2, "int8")
    refused(attend("quantize", int8, "--output", tmp_path / "again"), 2, "int8 already")
    assert not (tmp_path / "again").exists()


def test_a_model_does_not_replace_itself(tmp_path):
    model, link = tmp_path / "model", tmp_path / "link"
    shutil.copytree(MODEL, model)
    link.symlink_to(model)
    before = {path: path.read_bytes() for path in model.iterdir()}
    for output in (model, f"{model}/../model/", link):
        refused(attend("quantize", model, "--output", output), 2, "the model itself", "another directory")
    assert {path: path.read_bytes() for path in model.iterdir()} == before


def test_inspect_and_export_name_the_types(int8):
    tensors = json.loads(attend("inspect", int8, "--json").stdout)["tensors"]
    types = {tensor["name"]: tensor["type"] for tensor in tensors}
    assert types["encoder.embedding.weight"] == "I8"
    assert types["encoder.embedding.weight_scale"] == "F32"


def test_a_shortlist_of_parallel_text_holds_the_output_to_its_words(tmp_path):
    source, target, path = tmp_path / "source", tmp_path / "target", tmp_path / "list"
    source.write_text("lumi tavo\nkeri\n" * 20, encoding="utf-8")
    target.write_text("tavo lumi\nkeri\n" * 20, encoding="utf-8")
    done = attend("shortlist", "--model", MODEL, "--source", source, "--target", target, "--output", path, "--frequent", 0)
    assert done.returncode == 0 and "wrote" in done.stderr
    done = attend("translate", "--model", MODEL, "--shortlist", path, "--max-length", 5, stdin="keri\nlumi tavo\n")
    assert done.returncode == 0
    keri, pair = done.stdout.splitlines()
    assert set(keri.split()) <= {"keri"}
    assert set(pair.split()) <= {"lumi", "tavo"}


def test_a_shortlist_of_several_files_is_that_of_all_their_lines(tmp_path):
    for name, text in (("a.ka", "lumi tavo\nkeri\n"), ("b.ka", "sona mipa\n" * 3), ("a.su", "tavo lumi\nkeri\n"), ("b.su", "mipa\n" * 3)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    for side in ("ka", "su"):
        (tmp_path / f"all.{side}").write_bytes((tmp_path / f"a.{side}").read_bytes() + (tmp_path / f"b.{side}").read_bytes())

    def shortlist(sources, targets, output):
        files = ("--source", *sources, "--target", *targets, "--output", tmp_path / output)
        return attend("shortlist", "--quiet", "--model", MODEL, "--frequent", 2, *files)

    parts = [[tmp_path / f"{name}.{side}" for name in "ab"] for side in ("ka", "su")]
    assert shortlist(*parts, "parts").returncode == 0
    assert shortlist([tmp_path / "all.ka"], [tmp_path / "all.su"], "whole").returncode == 0
    assert shortlist(parts[0][:1], parts[1][:1], "first").returncode == 0
    lists = {name: (tmp_path / name).read_bytes() for name in ("parts", "whole", "first")}
    assert lists["parts"] == lists["whole"] != lists["first"]
    refused(shortlist(parts[0], parts[1][:1], "none"), 2, "attend shortlist: 2 source files for 1 target file")
    # A file that lacks lines is not made up for by the next one.
    refused(shortlist(parts[0], parts[1][::-1], "none"), 3, tmp_path / "a.ka", tmp_path / "b.su")


def test_a_shortlist_leaves_very_long_lines_out_and_says_so(tmp_path):
    source, target, path = tmp_path / "source", tmp_path / "target", tmp_path / "list"
    arguments = ("shortlist", "--quiet", "--model", MODEL, "--source", source, "--target", target, "--output", path)
    source.write_text("keri\n" + "lumi " * 300 + "\n", encoding="utf-8")
    target.write_text("tavo\ntavo\n", encoding="utf-8")
    done = attend(*arguments)
    assert done.returncode == 0 and path.exists()
    assert "1 of 2 pairs have more than 250 tokens" in done.stderr and done.stderr.count("\n") == 1
    path.unlink()
    source.write_text("lumi " * 300 + "\n", encoding="utf-8")
    target.write_text("tavo\n", encoding="utf-8")
    refused(attend(*arguments), 3, "no lines of at most 250 tokens")
    assert not path.exists()
