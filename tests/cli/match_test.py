"""attend match, and attend translate with a translation memory."""

import json
import pathlib

import pytest
from programs import attend, refused, told

MODEL = pathlib.Path(__file__).resolve().parents[1] / "data/golden_v1"
UNITS = "lumi tavo keri\tEINS\nlumi tavo keri paku\tZWEI\nsona mipa\tDREI\n"


@pytest.fixture(name="memory")
def write_memory(tmp_path):
    path = tmp_path / "memory.tsv"
    path.write_text(UNITS, encoding="utf-8")
    return path


def test_matches_as_text_and_json(memory):
    done = attend("match", "lumi tavo keri", "--memory", memory)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "lumi tavo keri\n  100.0 %\tlumi tavo keri\tEINS\n  75.0 %\tlumi tavo keri paku\tZWEI\n"
    done = attend("match", "--json", "--memory", memory, "--memory-matches", 1, stdin="lumi tavo\n\nsona mipa\n")
    assert (done.returncode, done.stderr) == (0, "")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found == [
        {"text": "lumi tavo", "matches": []}, {"text": "", "matches": []},
        {"text": "sona mipa", "matches": [{"score": 100.0, "source": "sona mipa", "target": "DREI"}]}]
    done = attend("match", "lumi tavo", "--json", "--memory", memory, "--memory-threshold", 60)
    assert [match["target"] for match in json.loads(done.stdout)["matches"]] == ["EINS"]


def test_a_line_of_the_memory_gets_its_target(memory):
    text = "lumi tavo keri\nlumi tavo\n  sona   mipa\n"
    plain = attend("translate", "--model", MODEL, stdin=text).stdout.splitlines()
    done = attend("translate", "--model", MODEL, "--memory", memory, stdin=text)
    assert (done.returncode, told(done.stderr)) == (0, "")
    assert done.stdout.splitlines() == ["EINS", plain[1], "DREI"]
    scored = attend("translate", "--model", MODEL, "--memory", memory, "--n-best", 2, "--alignments", stdin="sona mipa\n").stdout
    assert scored == "0 ||| DREI ||| 0.000000 |||\n"


def test_a_target_of_the_memory_tells_the_terms_that_it_has(memory, tmp_path):
    glossary = tmp_path / "terms.tsv"
    glossary.write_text("sona\tDREI\nmipa\tSECHS\n", encoding="utf-8")
    arguments = ["translate", "--model", MODEL, "--memory", memory, "--glossary", glossary, "--json"]
    done = attend(*arguments, stdin="neri\nsona mipa\n")
    found = [json.loads(line)["hypotheses"][0] for line in done.stdout.splitlines()]
    assert [(each["terms"], each["terms_kept"]) for each in found] == [(0, 0), (2, 1)] and found[1]["text"] == "DREI"
    assert "terms of the glossary in the text: 2, of which 1 are kept" in done.stderr
    assert "1 translation lacks a term of the glossary: the search found no output with it within the maximum length, or a match" in done.stderr


def test_texts_with_their_matches(memory):
    text = "lumi tavo keri\nlumi tavo keri dosa\nneri\n"
    joined = attend("match", "--memory", memory, "--join", "--memory-exact=false", stdin=text)
    assert (joined.returncode, joined.stderr) == (0, "")
    assert joined.stdout == "lumi tavo keri <memory> ZWEI\nlumi tavo keri dosa <memory> ZWEI\nneri\n"


def test_a_model_reads_matches_if_it_has_the_token(memory, tmp_path):
    memory.write_text("lumi tavo keri\tmipa rudu\n", encoding="utf-8")
    assert attend("extend", MODEL, "--token", "<memory>", "--output", tmp_path / "model").returncode == 0
    translate = ["translate", "--model", tmp_path / "model", "--scores", "--quiet"]
    found = attend(*translate, "--memory", memory, stdin="lumi tavo keri dosa\nneri\n").stdout
    assert found == attend(*translate, stdin="lumi tavo keri dosa <memory> mipa rudu\nneri\n").stdout
    plain = attend(*translate, stdin="lumi tavo keri dosa\nneri\n").stdout
    assert found != plain
    assert attend(*translate, "--memory", memory, "--memory-threshold", 80, stdin="lumi tavo keri dosa\nneri\n").stdout == plain


def test_errors(memory, tmp_path):
    refused(attend("match", "x", "--memory", tmp_path / "gone.tsv"), 3, tmp_path / "gone.tsv")
    refused(attend("match", "x", "--input", memory, "--memory", memory), 2, "leave out one")
    refused(attend("match", "x"), 2, "--memory")
    (tmp_path / "bad.tmx").write_text("<tmx>", encoding="utf-8")
    refused(attend("match", "x", "--memory", tmp_path / "bad.tmx"), 3, "bad.tmx:1: no well-formed XML")
    refused(attend("translate", "--model", MODEL, "--memory", tmp_path / "bad.tmx"), 3, "bad.tmx:1")
    refused(attend("match", "x", "--memory", memory, "--memory-threshold", 0), 2, "--memory-threshold")
    refused(attend("match", "x", "--memory", memory, "--memory-source", "ka"), 2, "languages are named, 'ka' and ''", "is no TMX")
    (tmp_path / "latin1.tsv").write_bytes(b"lumi\tH\xe4user\n")
    refused(attend("translate", "--model", MODEL, "--memory", tmp_path / "latin1.tsv"), 3, "latin1.tsv:1 is not UTF-8; convert the file")
    for option, error in (("--memory-exact=false", "memory_exact is false"), ("--memory-threshold=80", "memory_threshold is given")):
        refused(attend("translate", "--model", MODEL, "--memory", memory, option), 2, error, "reads no matches: it has no token <memory>")
