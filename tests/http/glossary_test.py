"""Glossaries over HTTP: terms of a request, files of the server, and what is refused."""

import pytest
from server import MODEL, TEXT, command_line, failed_start, serving

TERMS = "# of the house\nlumi\tvesta\nneri\tholm\nneri\tkvist\n"


@pytest.fixture(name="files", scope="module")
def write_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terms")
    (folder / "terms.tsv").write_text(TERMS, encoding="utf-8")
    (folder / "bad.tsv").write_text("lumi\n", encoding="utf-8")
    return folder


@pytest.fixture(name="server", scope="module")
def run_server(files, tmp_path_factory):
    with serving(tmp_path_factory.mktemp("serve"), "--glossary", f"house={files / 'terms.tsv'}") as server:
        yield server


def best_of(answer):
    return answer[0]["sentences"][0]["hypotheses"][0]


def test_a_request_names_a_glossary_or_brings_one(server, files):
    expected = command_line(TEXT, "--glossary", str(files / "terms.tsv"))[0]
    terms = [{"source": "lumi", "target": "vesta"}, {"source": "neri", "target": "holm", "flags": "ignore-case"}]
    for glossary in ("house", terms):
        answer = server.translate(TEXT, glossary=glossary)
        assert answer[0]["text"] == expected and "vesta" in expected.split()
        assert (best_of(answer)["terms"], best_of(answer)["terms_kept"]) == (1, 1)
    for options in ({}, {"glossary": ""}, {"glossary": []}):
        answer = server.translate(TEXT, **options)
        assert answer[0]["text"] == command_line(TEXT)[0] != expected
        assert (best_of(answer)["terms"], best_of(answer)["terms_kept"]) == (0, 0)
    kept = server.translate("Sona dosa", glossary=[{"source": "Dosa", "flags": "keep, ignore-case"}])
    assert "dosa" in kept[0]["text"].split()


@pytest.mark.parametrize(("glossary", "message"), [
    ("garden", "there is no glossary 'garden' here; there are house"),
    (3, "glossary is a number, expected a name or a list of terms"),
    (["lumi"], "glossary term 1 is a text, expected an object"),
    ([{"source": "lumi"}], "glossary term 1: 'lumi' has no target"),
    ([{"target": "lumi"}], "source"),
    ([{"source": "lumi", "target": "x", "weight": 1}], "has the member 'weight', expected source, target and flags"),
    ([{"source": "lumi", "target": "x", "flags": "plural"}], "the flag is 'plural'"),
    ([{"source": "lumi", "target": "x"}] * 1001, "glossary has 1001 terms, expected at most 1000"),
])
def test_what_is_no_glossary_is_refused(server, glossary, message):
    status, answer = server.post("/v1/translate", {"text": TEXT, "glossary": glossary})
    assert status == 400 and message in answer["error"], answer


def test_drawn_outputs_take_none(server):
    status, answer = server.post("/v1/translate", {"text": TEXT, "glossary": "house", "sample": True})
    assert status == 400 and "leave out the glossary" in answer["error"]


def test_the_description_has_it(server):
    schema = server.get("/openapi.json")["components"]["schemas"]
    assert schema["NativeRequest"]["properties"]["glossary"]["oneOf"][0]["enum"] == ["", "house"]
    assert {"terms", "terms_kept"} <= set(schema["Hypothesis"]["properties"])


@pytest.mark.parametrize(("given", "status", "message"), [
    (["{}/terms.tsv"], 2, "expected NAME=FILE"),
    (["a={}/terms.tsv", "a={}/terms.tsv"], 2, "two glossaries named 'a'"),
    (["a={}/bad.tsv"], 3, "bad.tsv' line 1 has 1 column"),
    (["a={}/gone.tsv"], 3, "gone.tsv"),
])
def test_a_server_with_a_wrong_glossary_does_not_start(files, given, status, message):
    words = [word for each in given for word in ("--glossary", each.format(files))]
    done = failed_start("--model", MODEL, *words)
    assert done.returncode == status and message in done.stderr, done.stderr
