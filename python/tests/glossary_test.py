"""attend.Glossary: terms that translations hold, alone as beside others, and what is wrong with a glossary."""

import attend
import pytest
from package import GOLDEN, LINES, program

TERMS = [("lumi", "vesta"), ("dosa", "holm"), ("dosa", "kvist"), ("Rudu", "", "keep, ignore-case")]


def kept(translation):
    return translation.hypotheses[0].terms, translation.hypotheses[0].terms_kept


def test_translations_hold_the_terms_of_their_texts(translator):
    glossary = attend.Glossary(TERMS)
    assert len(glossary) == 4
    texts = ["lumi tavo keri", "neri dosa", "sona mipa, rudu vesta!", "olin", "lumi dosa lumi"]
    found = translator.translate(texts, glossary=glossary)
    assert [kept(each) for each in found] == [(1, 1), (1, 1), (1, 1), (0, 0), (3, 3)]
    words = [each.split() for each in found]
    assert "vesta" in words[0] and {"holm", "kvist"} & set(words[1]) and "rudu" in words[2] and words[4].count("vesta") == 2
    assert found[3].hypotheses == translator.translate("olin").hypotheses
    assert [translator.translate(text, glossary=glossary).hypotheses for text in texts] == [each.hypotheses for each in found]
    assert list(translator.translate_lines(texts, glossary=glossary)) == found
    assert translator.translate(texts, glossary=None) == translator.translate(texts)


def test_a_text_whose_translation_has_its_terms_stays(translator):
    plain = translator.translate(LINES, beam_size=3)
    found = translator.translate(LINES, beam_size=3, glossary=attend.Glossary([("olin", plain[4])]))
    assert [(each, each.score) for each in found] == [(each, each.score) for each in plain]
    assert kept(found[4]) == (1, 1)


def test_the_program_does_the_same(translator, tmp_path):
    file = tmp_path / "terms.tsv"
    file.write_text("# terms\n" + "".join("\t".join(term) + "\n" for term in TERMS), encoding="utf-8")
    outputs = program("translate", "--model", GOLDEN, "--glossary", file, stdin="\n".join(LINES) + "\n").splitlines()
    assert outputs == translator.translate(LINES, glossary=attend.Glossary(file)) == translator.translate(LINES, glossary=attend.Glossary(str(file)))


def test_what_does_not_fit_is_missing(translator):
    translation = translator.translate("lumi dosa", glossary=attend.Glossary(TERMS), max_length=1)
    assert kept(translation) == (2, 1) and not translation.finished
    unwritable = translator.translate("lumi", glossary=attend.Glossary([("lumi", "Straße")]))
    assert kept(unwritable) == (1, 0)
    assert str(unwritable) == translator.translate("lumi")


def test_terms_go_with_other_searches(translator):
    glossary = attend.Glossary(TERMS)
    for options in ({"beam_size": 1}, {"beam_groups": 2}, {"no_repeat_ngram": 2, "max_length": 25}, {"repetition_penalty": 1.5}, {"n_best": 3}):
        translation = translator.translate("lumi tavo keri", glossary=glossary, **options)
        assert kept(translation) == (1, 1), options
    begun = translator.translate("lumi tavo keri", glossary=glossary, target_prefix="neri")
    assert begun.startswith("neri") and "vesta" in begun.split()
    assert any("vesta" in each.text.split() for each in translator.alternatives("lumi tavo keri", count=2, glossary=glossary).hypotheses)
    for options in ({"sample": True}, {"mbr": "chrf"}):
        with pytest.raises(attend.UsageError, match="leave out the glossary"):
            translator.translate("lumi", glossary=glossary, **options)


@pytest.mark.parametrize(("terms", "error", "message"), [
    ([("lumi",)], attend.UsageError, "glossary term 1 is no tuple of 2 or 3 texts"),
    ([("lumi", "vesta"), "lumi"], attend.UsageError, "glossary term 2 is no tuple"),
    ([("lumi", 3)], attend.UsageError, "no text; expected str"),
    ([("lumi", "vesta", "plural")], attend.InputError, "the flag is 'plural', expected ignore-case"),
    ([("lumi", "")], attend.InputError, "glossary term 1: 'lumi' has no target"),
    ([("lumi", "x", "keep")], attend.InputError, "is to be kept as it is, but has a target"),
    ([("", "x")], attend.InputError, "the source is '', expected one with a letter or a digit"),
])
def test_what_is_no_glossary_is_told(terms, error, message):
    with pytest.raises(error, match=message):
        attend.Glossary(terms)


def test_a_file_that_is_wrong_is_named(translator, tmp_path):
    file = tmp_path / "terms.tsv"
    with pytest.raises(attend.InputError, match=r"terms\.tsv"):
        attend.Glossary(file)
    file.write_text("lumi\tvesta\nlumi\n", encoding="utf-8")
    with pytest.raises(attend.InputError, match=r"terms\.tsv' line 2 has 1 column, expected 2 or 3"):
        attend.Glossary(file)
    with pytest.raises(attend.UsageError, match="no attend.Glossary"):
        translator.translate("lumi", glossary=str(file))
