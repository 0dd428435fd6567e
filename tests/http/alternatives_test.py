"""Outputs that begin with given words, and what may stand at a position: POST /v1/translate with target_prefix, /v1/alternatives."""

import json
import subprocess
import sys

import pytest
from server import BUILD, HAS_PACKAGE, MODEL, TEXT, VARIANT, command_line, serving

LANGUAGES = {"source": "ka", "target": "su"}


@pytest.fixture(name="server", scope="module")
def run_server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("serve"), "--max-beam-size", "8", "--model", f"second={VARIANT}", model=f"first={MODEL}") as server:
        yield server


def test_a_translation_begins_with_the_prefix(server, tmp_path):
    prefix = "paku so"
    table = tmp_path / "lines"
    table.write_text(f"{prefix}\n", encoding="utf-8")
    expected = command_line(TEXT, "--target-prefix", table)[0]
    assert expected.startswith(prefix) and expected != command_line(TEXT)[0]
    text = server.translate(TEXT, target_prefix=prefix, **LANGUAGES)[0]
    assert text["text"] == expected and len(text["sentences"]) == 1
    # Each text its own, or all the same; an empty one is none.
    texts = [each["text"] for each in server.translate([TEXT, TEXT, " "], target_prefix=["", prefix, prefix], **LANGUAGES)]
    assert texts == [command_line(TEXT)[0], expected, " "]
    assert [each["text"] for each in server.translate([TEXT, TEXT], target_prefix=prefix, **LANGUAGES)] == [expected] * 2
    assert server.translate(TEXT, target_prefix="", sample=True, **LANGUAGES)


def test_a_text_with_a_prefix_is_not_divided(server):
    text = f"Sona mipa! {TEXT.capitalize()}."
    assert len(server.translate(text, split_sentences="always", **LANGUAGES)[0]["sentences"]) == 2
    assert len(server.translate(text, split_sentences="always", target_prefix="x", **LANGUAGES)[0]["sentences"]) == 1
    for asked, words in (({"text": f"{TEXT}\n{TEXT}", "target_prefix": "x"}, "2 lines"), ({"text": f"{TEXT} " * 2000, "target_prefix": "x"}, "not divided"),
                         ({"text": [TEXT], "target_prefix": ["x", "y"]}, "holds 2 texts and text 1"), ({"text": TEXT, "target_prefix": 1}, "a number"),
                         ({"text": TEXT, "target_prefix": "x", "sample": True}, "leave out target_prefix"), ({"text": TEXT, "target_prefix": "x " * 5000}, "target_prefix has")):
        status, answer = server.post("/v1/translate", {**asked, **LANGUAGES})
        assert status == 400 and words in answer["error"], answer


def test_a_prefix_of_many_texts_is_kept_once(tmp_path):
    with serving(tmp_path, "--max-characters", 1000) as limited:
        status, answer = limited.post("/v1/translate", {"text": [""] * 20, "target_prefix": "x" * 1001})
        assert status == 400 and "has 1001 characters, expected at most 1000" in answer["error"]
    with serving(tmp_path) as server:
        before = server.peak_memory()
        status, answer = server.post("/v1/translate", {"text": [""] * 5000, "target_prefix": "x" * 200_000})
        assert status == 400 and "5000 texts, expected at most 1024" in answer["error"]
        assert server.peak_memory() < before + (300 << 10)


def test_alternatives_have_quality_and_terms_and_leave_out_what_the_server_draws(tmp_path):
    with serving(tmp_path, "--sample", "--temperature", "0.8", "--top-k", "5") as server:
        status, answer = server.post("/v1/alternatives", {"text": TEXT, "quality": True})
        assert status == 200 and 0 < answer["alternatives"][0]["quality"] <= 100, answer
        status, answer = server.post("/v1/alternatives", {"text": TEXT, "glossary": [{"source": TEXT.split()[0], "target": "mipa"}]})
        assert status == 200 and "mipa" in answer["alternatives"][0]["text"].split() and answer["alternatives"][0]["terms_kept"] == 1


# What Python's Translator.alternatives gives.
PEER = """
import json, sys, attend
translator = attend.Translator(sys.argv[1], threads=1)
terms = [tuple(each.split("=")) for each in sys.argv[5:]]
found = translator.alternatives(sys.argv[2], sys.argv[3], int(sys.argv[4]), alignments=True, glossary=attend.Glossary(terms) if terms else None)
print(json.dumps([[each.text, each.score, each.alignment] for each in found.hypotheses]))
"""


def package_s(model, prefix, count, *terms):
    if not HAS_PACKAGE:
        pytest.skip("the build has no Python module")
    done = subprocess.run([sys.executable, "-c", PEER, model, TEXT, prefix, str(count), *terms], env={"PYTHONPATH": str(BUILD / "python")}, capture_output=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("words, count", [(0, 5), (1, 3), (2, 8)])
def test_alternatives_are_the_package_s(server, words, count):
    prefix = " ".join(command_line(TEXT)[0].split()[:words])
    expected = package_s(MODEL, prefix, count)
    status, answer = server.post("/v1/alternatives", {"text": TEXT, "target_prefix": prefix, "count": count, "alignments": True, "model": "first"})
    assert status == 200 and answer["model"] == "first"
    assert [[each["text"], pytest.approx(each["score"]), each["alignment"]] for each in answer["alternatives"]] == expected


def test_a_model_that_reads_terms_has_them_in_every_search(tmp_path):
    model = tmp_path / "reads-terms"
    subprocess.run([BUILD / "attend", "extend", MODEL, "--token", "<term>", "<is>", "</term>", "--output", model, "--quiet"], check=True)
    source, target = TEXT.split()[1], "mipa"
    terms = [{"source": source, "target": target}]
    with serving(tmp_path, "--max-beam-size", "8", model=f"first={model}") as server:
        answer = server.translate(TEXT, glossary=terms, alignments=True, quality=True)[0]["sentences"][0]["hypotheses"][0]
        plain = server.translate(TEXT)[0]["sentences"][0]["hypotheses"][0]
        assert answer["terms"] == 1 and answer["score"] != plain["score"]
        assert {source for source, _ in answer["alignment"]} <= set(range(len(TEXT.split())))
        for prefix, count in (("", 5), ("sane", 8)):
            status, answer = server.post("/v1/alternatives", {"text": TEXT, "target_prefix": prefix, "count": count, "alignments": True, "glossary": terms})
            assert status == 200, answer
            found = [[each["text"], pytest.approx(each["score"]), each["alignment"]] for each in answer["alternatives"]]
            assert found == package_s(model, prefix, count, f"{source}={target}")


def test_alternatives_differ_in_the_next_word(server):
    for name in ("first", "second"):
        found = server.post("/v1/alternatives", {"text": TEXT, "model": name})[1]["alternatives"]
        assert 1 < len(found) <= 5  # the usual count
        assert len({each["text"].split()[0] for each in found}) == len(found)
        assert [each["score"] for each in found] == sorted((each["score"] for each in found), reverse=True)
        assert "alignment" not in found[0]


def test_what_prunes_a_beam_prunes_its_alternatives(server):
    status, answer = server.post("/v1/alternatives", {"text": TEXT, "count": 3, "model": "first", "beam_threshold": 0.001})
    assert status == 200 and len(answer["alternatives"]) == 1


def test_what_says_nothing_is_its_own_alternative(server):
    assert [each["text"] for each in server.post("/v1/alternatives", {"text": "?!", **LANGUAGES})[1]["alternatives"]] == ["?!"]


@pytest.mark.parametrize("asked, words", [
    ({}, "text"), ({"text": [TEXT, TEXT]}, "2 texts"), ({"text": ""}, "0 lines"), ({"text": "a\nb"}, "2 lines"), ({"text": TEXT, "count": 9}, "at most 8"),
    ({"text": TEXT, "count": 0}, "count"), ({"text": TEXT, "n_best": 2}, "n_best"), ({"text": TEXT, "target_prefix": 3}, "a number"),
    ({"text": TEXT, "beam_size": 9}, "at most 8"), ({"text": TEXT, "model": "third"}, "third"),
], ids=str)
def test_what_can_t_be_asked(server, asked, words):
    status, answer = server.post("/v1/alternatives", {**LANGUAGES, **asked})
    assert status == 400 and words in answer["error"], answer
