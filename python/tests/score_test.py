"""Translator.score and Translator.attention against samples.json and the program."""

import json

import attend
import numpy
import pytest
from package import GOLDEN, LEARNED, program

SAMPLES = json.loads((GOLDEN / "samples.json").read_text(encoding="utf-8"))


def test_scores_are_the_program_s_and_the_samples(translator, tmp_path):
    sources, targets = ([sample[side] for sample in SAMPLES] for side in ("source", "target"))
    for side, lines in (("source", sources), ("target", targets)):
        (tmp_path / side).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    scores = translator.score(sources, iter(targets), alignments=True)
    printed = program(
        "score", "--model", GOLDEN, "--source", tmp_path / "source", "--target", tmp_path / "target", "--alignments")
    assert printed == "".join(
        f"{score.log_probability:.6f} |||" + "".join(f" {source}-{target}" for source, target in score.alignment) + "\n"
        for score in scores)
    eos = translator.target_vocabulary.eos
    same = [  # those whose text gives the sample's ids
        (score, sample) for score, sample in zip(scores, SAMPLES, strict=True)
        if [*translator.target_vocabulary.encode(sample["target"]), eos] == sample["target_ids"]]
    assert same
    for score, sample in same:
        assert score.token_log_probabilities == pytest.approx(sample["token_log_probabilities"], abs=1e-4)


def test_one_pair_is_scored_alone(translator):
    source, target = "lumi tavo keri", "öd rudud grau vestab"
    one = translator.score(source, target, alignments=True)
    assert one == translator.score(["olin", source], ["vestab", target], alignments=True)[1]
    assert one.log_probability == pytest.approx(sum(one.token_log_probabilities))
    assert {link[1] for link in one.alignment} == set(range(len(target.split())))
    assert translator.score(source, target).alignment == []


def test_lists_of_different_length_and_wrong_options(translator):
    with pytest.raises(attend.UsageError, match="2 sources and 1 targets"):
        translator.score(["a", "b"], ["c"])
    with pytest.raises(attend.ConfigurationError, match="score: unknown option 'alignment'; did you mean 'alignments'"):
        translator.score("olin", "vestab", alignment=True)
    with pytest.raises(TypeError):
        translator.score("olin", ["vestab"])
    with pytest.raises(attend.InputError, match="line 30"):
        attend.Translator(LEARNED, threads=1).score(["olin"] * 29 + ["olin " * 40], ["grau"] * 30)


def test_attention_is_what_the_program_gives(translator, tmp_path):
    source, target = "sona mipa, rudu vesta!", "grau öd"
    program("attention", "--model", GOLDEN, "--source", source, "--target", target, "--output", tmp_path / "a.json", "--quiet")
    kinds = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["kinds"]
    found = translator.attention(source, target)
    pieces = {
        "encoder": (found.source_pieces, found.source_pieces),
        "decoder": (found.read_pieces, found.read_pieces),
        "cross": (found.target_pieces, found.source_pieces),
    }
    for name, (queries, keys) in pieces.items():
        array = getattr(found, name)
        assert (kinds[name]["queries"], kinds[name]["keys"]) == (queries, keys)
        assert array.dtype == numpy.float32 and array.flags.c_contiguous
        assert array.shape[2:] == (len(queries), len(keys))
        numpy.testing.assert_allclose(array, numpy.array(kinds[name]["weights"]), atol=1e-6)
        numpy.testing.assert_allclose(array.sum(axis=-1), 1, atol=1e-5)


def test_arrays_own_the_weights_without_a_copy():
    translator = attend.Translator(GOLDEN, threads=1)
    cross = translator.attention("lumi tavo keri").cross
    assert cross.base is not None and not cross.flags.owndata and cross.flags.writeable
    kept = cross.copy()
    del translator
    attend.Translator(GOLDEN, threads=1).attention("sona mipa")  # would write over memory that is free
    numpy.testing.assert_array_equal(cross, kept)


def test_without_a_target_the_model_translates(translator):
    found = translator.attention("lumi tavo keri")
    translation = translator.translate("lumi tavo keri")
    assert found.target == translation
    assert found.cross.shape[2] == len(found.target_pieces) == len(translation.ids) + 1


def test_the_program_is_of_the_package_s_version():
    assert program("--version").startswith(f"attend {attend.__version__} ")
