"""attend.TranslationMemory against rapidfuzz, which compares with every unit."""

import random

import attend
import pytest

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
    with pytest.raises(attend.InputError, match=r"'de' and 'fr'; name the target language"):
        attend.TranslationMemory(tmp_path / "memory.tmx")
    (tmp_path / "memory.tsv").write_text("A small house.\tEin kleines Haus.\n", encoding="utf-8")
    assert attend.TranslationMemory(tmp_path / "memory.tsv").find("A small house.")[0].target == "Ein kleines Haus."


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
