"""Translation memories of the service: matches in answers, exact ones as they stand, refusals."""

import subprocess

import pytest
from server import ATTEND, MODEL, TEXT, events_of, failed_start, serving

UNITS = f"{TEXT}\tEINS\nlumi tavo keri paku\tZWEI\nsona mipa\tDREI\n"
TMX = """<tmx version="1.4"><header srclang="ka"/><body><tu><tuv xml:lang="ka"><seg>lumi tavo</seg></tuv>
<tuv xml:lang="su"><seg>VIER</seg></tuv><tuv xml:lang="en"><seg>FIVE</seg></tuv></tu></body></tmx>"""


@pytest.fixture(name="server", scope="module")
def serve(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memory")
    (folder / "units.tsv").write_text(UNITS, encoding="utf-8")
    (folder / "office.tmx").write_text(TMX, encoding="utf-8")
    with serving(folder, "--memory", folder / "units.tsv", "--memory", f"other={folder / 'office.tmx'}", "--memory-target", "su") as server:
        yield server


def test_they_are_listed(server):
    assert server.get("/v1/memories") == {"memories": [{"name": "other", "units": 1}, {"name": "units", "units": 3}]}
    properties = server.get("/openapi.json")["components"]["schemas"]["NativeRequest"]["properties"]
    assert properties["memory"]["enum"] == ["", "other", "units"]


def test_matches_stand_beside_the_translation(server):
    [plain] = server.translate(["lumi tavo keri mipa"])
    assert "matches" not in plain["sentences"][0]
    [found] = server.translate(["lumi tavo keri mipa"], memory="units", memory_threshold=50)
    assert [match["target"] for match in found["sentences"][0]["matches"]] == ["ZWEI", "EINS"]
    assert found["sentences"][0]["matches"][1] == {"score": 75.0, "source": TEXT, "target": "EINS"}
    assert found["text"] == plain["text"]
    assert server.translate(["lumi tavo keri mipa"], memory="units", memory_threshold=76)[0]["sentences"][0]["matches"] == []


def test_an_exact_match_is_the_translation(server):
    texts = [TEXT, "sona  mipa", "lumi tavo"]
    plain = server.translate(texts)
    found = server.translate(texts, memory="units", n_best=3, alignments=True)
    assert [each["text"] for each in found] == ["EINS", "DREI", plain[2]["text"]]
    [hypothesis] = found[0]["sentences"][0]["hypotheses"]
    assert (hypothesis["score"], hypothesis["alignment"], hypothesis["finished"]) == (0, [], True)
    assert found[0]["sentences"][0]["matches"][0]["score"] == 100
    free = server.translate(texts, memory="units", memory_exact=False)
    assert [each["text"] for each in free] == [each["text"] for each in plain]
    assert free[0]["sentences"][0]["matches"][0]["target"] == "EINS"
    looked = server.translate(TEXT, memory="units", attention=True)  # of what the model itself says
    assert looked[0]["text"] == plain[0]["text"] and "attention" in looked[0]["sentences"][0]


def test_an_exact_match_is_certain(server):
    [found] = server.translate(["sona mipa"], memory="units", quality=True)
    assert found["quality"] == 100 and found["sentences"][0]["hypotheses"][0]["quality"] == 100


def test_an_exact_match_tells_the_terms_that_it_has(server):
    terms = [{"source": "sona", "target": "DREI"}, {"source": "mipa", "target": "SECHS"}]
    [found] = server.translate(["sona mipa"], memory="units", glossary=terms)
    [hypothesis] = found["sentences"][0]["hypotheses"]
    assert (hypothesis["text"], hypothesis["terms"], hypothesis["terms_kept"]) == ("DREI", 2, 1)


def test_a_target_prefix_comes_before_the_memory(server):
    [plain] = server.translate(TEXT, target_prefix="paku so")
    [found] = server.translate(TEXT, target_prefix="paku so", memory="units")
    assert found["text"] == plain["text"] and found["text"].startswith("paku so")
    assert found["sentences"][0]["matches"][0]["target"] == "EINS"


def test_a_text_of_many_words_takes_little_memory(server):
    server.translate(TEXT, memory="units")
    before = server.peak_memory()
    for text in ("!" * 60000, "lumi!" * 12000, " ".join(f"{TEXT} w{i}" for i in range(3000))):
        status, _ = server.post("/v1/translate", {"text": text, "memory": "units", "max_length": 1, "beam_size": 1})
        assert status in (200, 400)  # it may have too many sentences
    assert server.peak_memory() < before + (300 << 10)


def test_events_have_them(server):
    events = events_of(server, {"text": ["sona mipa"], "memory": "units", "stream": True})
    assert [name for name, _ in events] == ["sentence", "done"]
    assert events[0][1]["hypotheses"][0]["text"] == "DREI" and events[0][1]["matches"][0]["target"] == "DREI"


def test_a_tmx_of_several_languages(server):
    assert server.translate("lumi tavo", memory="other")[0]["text"] == "VIER"


def test_a_model_that_reads_matches_gets_them(tmp_path):
    (tmp_path / "units.tsv").write_text("lumi tavo keri\tmipa rudu\n", encoding="utf-8")
    subprocess.run([ATTEND, "extend", MODEL, "--token", "<memory>", "--output", tmp_path / "model", "--quiet"], check=True)
    with serving(tmp_path, "--memory", tmp_path / "units.tsv", model=tmp_path / "model") as server:
        [found] = server.translate(["lumi tavo keri dosa"], memory="units", alignments=True)
        [joined] = server.translate(["lumi tavo keri dosa <memory> mipa rudu"], alignments=True)
        [sentence], [expected] = found["sentences"], joined["sentences"]
        assert sentence["source"] == "lumi tavo keri dosa"
        assert found["text"] == joined["text"] and sentence["hypotheses"][0]["score"] == expected["hypotheses"][0]["score"]
        links = sentence["hypotheses"][0]["alignment"]
        assert links == [link for link in expected["hypotheses"][0]["alignment"] if link[0] < 4]
        assert sentence["hypotheses"][0]["score"] != server.translate("lumi tavo keri dosa")[0]["sentences"][0]["hypotheses"][0]["score"]


def test_refusals(server, tmp_path):
    status, answer = server.post("/v1/translate", {"text": TEXT, "memory": "none"})
    assert status == 400 and "there is no memory 'none', expected one of other, units" in answer["error"]
    (tmp_path / "units.tsv").write_text(UNITS, encoding="utf-8")
    memory = tmp_path / "units.tsv"
    for arguments, status, error in [
            (["--memory", memory, "--memory", f"units={memory}"], 2, "two memories are named 'units'"),
            (["--memory", memory, "--memory-source", "ka"], 2, "is no TMX"),
            (["--memory", tmp_path / "gone.tsv"], 3, "gone.tsv")]:
        done = failed_start("--model", MODEL, *arguments)
        assert done.returncode == status and error in done.stderr, done.stderr
