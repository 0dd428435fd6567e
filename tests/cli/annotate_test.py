"""attend annotate: terms in the source side of parallel text."""

import re

from programs import attend, refused

SOURCE = ["A small house stands here.", "The garden is green.", "...", "A bright garden"]
TARGET = ["Ein kleines Haus steht hier.", "Der Garten ist grün.", "...", "Ein heller Garten"]
LINKS = ["0-0 1-1 2-2 3-3 4-4", "0-0 1-1 2-2 3-3", "0-0", "0-0 1-1 2-2"]
TERM = re.compile(r"<term> (.*?) <is> (.*?) </term>( (?=\.))?")  # a space is added before the full stop


def files(folder, **sides):
    for name, lines in sides.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def annotate(folder, *options):
    done = attend("annotate", "--source", folder / "source", "--target", folder / "target", "--output", folder / "out", *options)
    assert done.returncode == 0, done.stderr
    return (folder / "out").read_text(encoding="utf-8").splitlines(), done.stderr


def test_terms_are_phrases_that_are_translations_of_each_other(tmp_path):
    files(tmp_path, source=SOURCE, target=TARGET, links=LINKS)
    seen = set()
    for seed in range(20):
        lines, told = annotate(tmp_path, "--links", tmp_path / "links", "--seed", seed, "--most-terms", 2)
        assert [TERM.sub(r"\1", line) for line in lines] == SOURCE
        for line, target in zip(lines, TARGET, strict=True):
            assert all(translation in target for _, translation, _ in TERM.findall(line))
        assert lines[2] == "..." and all(1 <= len(TERM.findall(lines[i])) <= 2 for i in (0, 1, 3))
        assert "3 of 4 lines" in told
        seen.update(tuple(pair) for line in lines for *pair, _ in TERM.findall(line))
        assert lines == annotate(tmp_path, "--links", tmp_path / "links", "--seed", seed, "--most-terms", 2)[0]
    assert {("small house", "kleines Haus"), ("garden", "Garten"), ("bright garden", "heller Garten"), ("here", "hier")} <= seen
    assert not {source for source, _ in seen} & {"A", "The", "is", "The garden"}  # of words of few letters alone, or at an end


def test_terms_of_a_glossary(tmp_path):
    files(tmp_path, source=SOURCE, target=TARGET, terms=["garden\tGarten", "small house\tHütte", "bright\thell\tinflect", "green\tgrün"])
    lines, told = annotate(tmp_path, "--glossary", tmp_path / "terms", "--most-terms", 1)
    assert lines[0] == SOURCE[0]  # its target is not in the translation
    assert lines[3] in ("A <term> bright <is> hell </term> garden", "A bright <term> garden <is> Garten </term>")
    assert "2 terms in 2 of 4 lines" in told


def test_what_does_not_fit_is_named(tmp_path):
    files(tmp_path, source=SOURCE, target=TARGET, links=[*LINKS[:3], "0-0 5-1"], short=LINKS[:2])
    call = ["annotate", "--source", tmp_path / "source", "--target", tmp_path / "target", "--output", tmp_path / "out"]
    refused(attend(*call, "--links", tmp_path / "links"), 3, "links:4: the link 5-1 is to a word that is not there: the source has 3 words, the target 3")
    refused(attend(*call, "--links", tmp_path / "short"), 3, "short")
    refused(attend(*call, "--links", tmp_path / "links", "--glossary", tmp_path / "links"), 2, "give one of --links and --glossary")
    assert not (tmp_path / "out").exists()
