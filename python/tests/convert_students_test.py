"""attend.convert of a real Marian model with 8-bit weights: Bergamot's English-Portuguese student against what its own engine wrote."""

import gzip
import itertools
import os
import pathlib
import subprocess

import attend
import pytest

attend.convert = pytest.importorskip("attend.convert")
pytest.importorskip("yaml")

DATA = pathlib.Path(os.environ.get("ATTEND_DATA", "none"))
STUDENT, TEXT = DATA / "bergamot-en-pt", DATA / "flores101/eng.devtest.gz"
LINES = 100


@pytest.fixture(name="model", scope="module")
def converted_model(tmp_path_factory):
    if not STUDENT.exists():
        pytest.skip(f"ATTEND_DATA has no {STUDENT.name}")
    output = tmp_path_factory.mktemp("attend") / "model"
    converted = attend.convert.convert(STUDENT, output)
    assert converted.model["decoder"]["recurrence"] == "ssru" and converted.left_out
    return output


def lines(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        return [line.strip() for line in itertools.islice(file, LINES)]


@pytest.mark.parametrize("type", ["f32", "int8"])
def test_translations_are_its_own_engines(model, type):
    """With the shortlist and f32 all outputs are the engine's; the reference also has the edits of its package, such as "não" for "no"."""
    translator = attend.Translator(model, type=type, shortlist=model / "shortlist.safetensors")
    found = [str(text) for text in translator.translate(lines(TEXT), beam_size=1, length_penalty=0, split_sentences="never")]
    theirs = lines(STUDENT / "reference.en-pt.txt")
    gold = lines(DATA / "flores101/por.devtest.gz")
    assert sum(ours == other for ours, other in zip(found, theirs)) >= (0.75 if type == "f32" else 0.55) * LINES
    assert attend.bleu(found, [gold]) > attend.bleu(theirs, [gold])
    assert attend.bleu(found, [theirs]) > 93


def test_bad_shortlists_are_refused(tmp_path):
    if not STUDENT.exists():
        pytest.skip(f"ATTEND_DATA has no {STUDENT.name}")
    for name in ("model.enpt.intgemm.alphas.bin", "vocab.enpt.spm"):
        (tmp_path / name).symlink_to(STUDENT / name)
    whole = (STUDENT / "lex.50.50.enpt.s2t.bin").read_bytes()
    count = 8 * 4
    for content, part in (
        (whole[:20], "cut short"), (whole[:-4], "as its header says"), (whole[:count] + bytes(8) + whole[count + 8:], "as its header says"),
        (whole[:-4] + b"\xff\xff\0\0", "target ids above 31999"), (whole[:56] + b"\xff" + whole[57:], "does not rise")):
        (tmp_path / "lex.bin").write_bytes(content)
        with pytest.raises(attend.InputError, match=part):
            attend.convert.convert(tmp_path, tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_what_a_recurrence_lacks_is_not_drawn(model, tmp_path):
    command = [os.path.join(os.environ["BUILD_DIR"], "attend"), "attention", "--model", model, "--source", "The house is old."]
    for kind, status in (("cross", 0), ("encoder", 0), ("decoder", 2)):
        done = subprocess.run([*command, "--kind", kind, "--output", tmp_path / f"{kind}.svg"], capture_output=True, text=True, check=False)
        assert done.returncode == status and (status == 0 or "recurrence" in done.stderr), done.stderr
    subprocess.run([*command, "--output", tmp_path / "all.html"], check=True, capture_output=True)
    assert attend.Translator(model).attention("The house is old.").cross.shape[0] == 2


def test_bad_files_are_refused(tmp_path):
    if not STUDENT.exists():
        pytest.skip(f"ATTEND_DATA has no {STUDENT.name}")
    whole = (STUDENT / "model.enpt.intgemm.alphas.bin").read_bytes()
    for name, content in (("cut", whole[: len(whole) // 2]), ("header", whole[:3000])):
        path = tmp_path / f"{name}.bin"
        path.write_bytes(content)
        with pytest.raises(attend.InputError, match="cut short|no model"):
            attend.convert.convert(path, tmp_path / "out")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(attend.InputError, match="no model that can be imported"):
        attend.convert.convert(empty, tmp_path / "out")
    with pytest.raises(attend.InputError, match="does not exist"):
        attend.convert.convert(tmp_path / "gone", tmp_path / "out")
