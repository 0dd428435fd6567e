"""attend.TranslationMemory against rapidfuzz, which compares with every unit."""

import random

import attend
import pytest
from package import GOLDEN, LINES, program

TMX = """<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header srclang="en"/><body>
<tu><tuv xml:lang="en-GB"><seg>A <bpt i="1">&lt;b&gt;</bpt>small<ept i="1">&lt;/b&gt;</ept> house.</seg></tuv>
<tuv xml:lang="de"><seg>Ein kleines Haus.</seg></tuv><tuv xml:lang="fr"><seg>Une petite maison.</seg></tuv></tu>
</body></tmx>"""


def texts(count, seed):
    """Sentences of a few frequent and some rare words."""
    source = random.Random(seed)
    words = [f"word{number}" for number in range(30)]
    return [" ".join(source.choices(words, [1 / number for number in range(1, 31)], k=source.randint(1, 10))) for _ in range(count)]


def test_matches_are_those_of_rapidfuzz():
    distance = pytest.importorskip("rapidfuzz.distance")
    sources = list(dict.fromkeys(texts(1500, 1)))
    memory = attend.TranslationMemory.of([(source, f"target {number}") for number, source in enumerate(sources)])
    assert len(memory) == len(sources)
    units, found = [source.split() for source in sources], 0
    for text in [*texts(60, 2), *sources[:20]]:
        words = text.split()
        expected = []
        for source, unit in zip(sources, units, strict=True):
            longer = max(len(words), len(unit))
            score = 100 * (longer - distance.Levenshtein.distance(words, unit)) / longer
            if score >= 60:
                expected.append((score, source))
        matches = memory.find(text, memory_threshold=60, memory_matches=100)
        assert sorted((match.score, match.source) for match in matches) == sorted(expected), text
        assert [match.score for match in matches] == sorted((match.score for match in matches), reverse=True)
        found += len(matches)
    assert found > 100


def test_files(tmp_path):
    (tmp_path / "memory.tmx").write_text(TMX, encoding="utf-8")
    memory = attend.TranslationMemory(tmp_path / "memory.tmx", target="fr")
    assert memory.find("A small house.") == [attend.MemoryMatch(100, "A small house.", "Une petite maison.")]
    assert memory.find("A small red house.")[0].score == 80
    assert memory.find("A small red house.", memory_threshold=90) == []
    with pytest.raises(attend.InputError, match=r"'de' and 'fr'; name one as the target language"):
        attend.TranslationMemory(tmp_path / "memory.tmx")
    (tmp_path / "memory.tsv").write_text("A small house.\tEin kleines Haus.\n", encoding="utf-8")
    assert attend.TranslationMemory(tmp_path / "memory.tsv").find("A small house.")[0].target == "Ein kleines Haus."


UNITS = [("lumi tavo keri", "EINS"), ("lumi tavo keri paku", "ZWEI"), ("sona mipa", "DREI")]


def test_texts_of_the_memory_get_its_targets(translator, tmp_path):
    memory = attend.TranslationMemory.of(UNITS)
    texts = ["lumi tavo keri", "lumi tavo", "  sona   mipa", "", *(set(LINES) - {source for source, _ in UNITS})]
    found = translator.translate(texts, memory=memory)
    plain = translator.translate(texts)
    assert [str(found[0]), str(found[2])] == ["EINS", "DREI"] and found[0].score == 0
    assert found[1].hypotheses == plain[1].hypotheses and found[3:] == plain[3:]
    assert list(translator.translate_lines(texts, memory=memory)) == found
    assert [translator.translate(text, memory=memory).hypotheses for text in texts] == [each.hypotheses for each in found]
    for options in ({"memory": memory, "memory_exact": False}, {"memory": None}):
        assert translator.translate(texts, **options) == plain
    assert translator.translate("sona mipa", memory=memory, target_prefix="neri").startswith("neri")
    file = tmp_path / "units.tsv"
    file.write_text("".join("\t".join(unit) + "\n" for unit in UNITS), encoding="utf-8")
    assert program("translate", "--model", GOLDEN, "--memory", file, stdin="\n".join(texts) + "\n").splitlines() == found
    scored = translator.translate("sona mipa", memory=memory, quality=True, glossary=attend.Glossary([("sona", "DREI"), ("mipa", "x")])).hypotheses[0]
    assert (scored.quality, scored.terms, scored.terms_kept) == (100, 2, 1)
    with pytest.raises(attend.UsageError, match=r"no attend\.TranslationMemory"):
        translator.translate("lumi", memory=str(file))


def test_a_model_reads_matches_if_it_has_the_token(tmp_path):
    program("extend", GOLDEN, "--token", "<memory>", "--output", tmp_path / "model")
    reader, memory = attend.Translator(tmp_path / "model"), attend.TranslationMemory.of([("lumi tavo keri", "mipa rudu")])
    found = reader.translate("lumi tavo keri dosa", memory=memory)
    assert found.score == reader.translate("lumi tavo keri dosa <memory> mipa rudu").score != reader.translate("lumi tavo keri dosa").score
    assert reader.translate("lumi tavo keri dosa", memory=memory, memory_threshold=80).score == reader.translate("lumi tavo keri dosa").score


def test_wrong_calls():
    with pytest.raises(attend.UsageError, match=r"unit 2 has 1 texts"):
        attend.TranslationMemory.of([("a", "b"), ("c",)])
    with pytest.raises(TypeError):
        attend.TranslationMemory.of([("a", "b"), "cd"])
    memory = attend.TranslationMemory.of([])
    assert len(memory) == 0 and memory.find("a") == []
    with pytest.raises(attend.ConfigurationError, match="memory_threshold"):
        memory.find("a", memory_treshold=9)
    with pytest.raises(attend.ConfigurationError, match="memory_matches"):
        memory.find("a", memory_matches=0)
