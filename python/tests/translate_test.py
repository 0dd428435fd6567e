"""Translator.translate against the program, and what an option, a wrong one too, does."""

import json
import pickle
import warnings

import attend
import numpy
import pytest
import random_models
from package import GOLDEN, LEARNED, LINES, program


def as_lines(translations, options):
    """The translations as `attend translate --n-best N --alignments` writes them."""
    assert all(1 <= len(translation.hypotheses) <= options["n_best"] for translation in translations)
    return "".join(
        f"{number} ||| {hypothesis.text} ||| {hypothesis.score:.6f} |||"
        + "".join(f" {source}-{target}" for source, target in hypothesis.alignment)
        + "\n"
        for number, translation in enumerate(translations)
        for hypothesis in translation.hypotheses
    )


def test_a_list_is_translated_as_the_program_does(translator):
    options = {"n_best": 3, "beam_size": 5, "length_penalty": 1, "min_length": 2, "alignments": True}
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value is not True]
    expected = program("translate", "--model", GOLDEN, "--alignments", *words, stdin="\n".join(LINES) + "\n")
    assert as_lines(translator.translate(LINES, **options), options) == expected
    assert expected != as_lines(translator.translate(LINES, n_best=3, alignments=True), options)


def test_quality_is_the_programs(translator):
    lines = program("translate", "--model", GOLDEN, "--quality", "--json", stdin="\n".join(LINES) + "\n").splitlines()
    translations = translator.translate(LINES, quality=True)
    for line, translation in zip(lines, translations, strict=True):
        expected = json.loads(line)["hypotheses"][0]
        assert translation.quality == pytest.approx(expected["quality"], rel=1e-12)
        assert translation.word_quality == pytest.approx(expected["word_quality"], rel=1e-12)
        assert list(translation.doubtful_words) == expected["doubtful_words"]
        assert len(translation.word_quality) == len(translation.split())
    assert pickle.loads(pickle.dumps(translations[0])).hypotheses == translations[0].hypotheses
    plain = translator.translate(LINES[0])
    assert (plain.quality, list(plain.word_quality), list(plain.doubtful_words)) == (None, [], [])


def test_a_text_is_translated_to_a_str_that_knows_more(translator):
    translation = translator.translate("lumi tavo keri", n_best=2, alignments=True)
    assert isinstance(translation, str)
    assert translation == translator.translate(["neri", "lumi tavo keri"])[1]
    best, second = translation.hypotheses
    assert (best.text, best.score, best.ids) == (translation, translation.score, translation.ids)
    assert best.score > second.score
    assert translation.log_probability < translation.score < 0 and translation.finished == best.finished
    assert {target for _, target in translation.alignment} == set(range(len(translation.split())))
    assert translator.target_vocabulary.decode(translation.ids) == translation


def test_a_prefix_stands_before_each_text(translator):
    with_prefix = translator.translate(["keri", "neri dosa"], prefix="lumi tavo ")
    whole = translator.translate(["lumi tavo keri", "lumi tavo neri dosa"])
    assert [each.hypotheses for each in with_prefix] == [each.hypotheses for each in whole]
    assert with_prefix[0].score != translator.translate("keri").score


def test_outputs_begin_with_target_prefixes(translator):
    free = translator.translate(LINES)
    prefixes = ["" if i % 3 else ("neri", "dosa keri", "lumi")[i % 2 + i % 4 // 2] for i in range(len(LINES))]
    found = translator.translate(LINES, target_prefix=prefixes)
    for text, prefix, line in zip(found, prefixes, LINES, strict=True):
        assert text.startswith(prefix)
        assert text.hypotheses == translator.translate(line, target_prefix=prefix).hypotheses
    assert [each.hypotheses for each, prefix in zip(found, prefixes, strict=True) if not prefix] == [
        each.hypotheses for each, prefix in zip(free, prefixes, strict=True) if not prefix]
    assert any(text != other for text, other in zip(found, free, strict=True))
    with pytest.raises(attend.UsageError, match="1 target prefixes for 2 texts"):
        translator.translate(["neri", "dosa"], target_prefix=["keri"])
    for prefix in ("keri", ""):
        with pytest.raises(attend.UsageError, match="drawn"):
            translator.translate("neri", target_prefix=prefix, sample=True)


def test_alternatives_differ_in_the_word_that_is_next(translator):
    line = "lumi tavo keri neri"
    for words, prefix in enumerate(["", "neri", "neri keri"]):
        found = translator.alternatives(line, prefix, count=4)
        texts = [hypothesis.text for hypothesis in found.hypotheses]
        assert 1 < len(texts) <= 4 and (prefix or translator.translate(line) in texts)
        assert all(text.split()[:words] == prefix.split() for text in texts)
        assert len({tuple(text.split()[:words + 1]) for text in texts}) == len(texts)
        scores = [hypothesis.score for hypothesis in found.hypotheses]
        assert scores == sorted(scores, reverse=True) and scores[-1] < 0
        greedy = [hypothesis.score for hypothesis in translator.alternatives(line, prefix, count=4, beam_size=1).hypotheses]
        assert greedy == sorted(greedy, reverse=True) and greedy[-1] < 0
    assert translator.alternatives("...").hypotheses[0].text == "..."
    with pytest.raises(attend.UsageError, match="leave out sample"):
        translator.alternatives(line, sample=True)
    with pytest.raises(attend.UsageError, match="count is 0, expected 1 to 64"):
        translator.alternatives(line, count=0)


def test_results_are_plain_values(translator):
    translation = translator.translate("neri dosa", n_best=2)
    again = pickle.loads(pickle.dumps(translation))
    assert type(again) is attend.Translation
    assert (again, again.hypotheses) == (translation, translation.hypotheses)
    score = pickle.loads(pickle.dumps(attend.bleu(["a b c d"], ["a b c d"])))
    assert (round(score, 6), score.name) == (100, "BLEU") and "version" in score.signature


def test_any_iterable_will_do(translator):
    expected = translator.translate(LINES)
    assert translator.translate(iter(LINES)) == translator.translate(tuple(LINES)) == expected
    assert translator.translate([]) == []
    assert translator.translate("") == ""


def test_weights_as_asked_for(tmp_path):
    attend.quantize(GOLDEN, tmp_path / "int8")
    scores = [
        [translation.score for translation in attend.Translator(model, threads=1, **options).translate(LINES)]
        for model, options in ((tmp_path / "int8", {}), (str(GOLDEN), {"type": "int8"}), (GOLDEN, {"type": "f32"}))
    ]
    assert scores[0] == scores[1] != scores[2]
    with pytest.raises(attend.UsageError, match="int8"):
        attend.Translator(tmp_path / "int8", type="f32")
    with pytest.raises(attend.UsageError, match="the model itself"):
        attend.quantize(GOLDEN, GOLDEN)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"beam_sise": 4}, ["translate", "beam_sise", "did you mean 'beam_size'?"]),
        ({"beam_size": 0}, ["beam_size is 0", "an integer, 1 to 64"]),
        ({"beam_size": 10**30}, ["beam_size is inf", "1 to 64"]),
        ({"beam_size": True}, ["beam_size is true", "an integer"]),
        ({"beam_size": 2.0}, ["beam_size is 2", "an integer"]),
        ({"beam_size": "4"}, ['beam_size is "4"', "an integer"]),
        ({"beam_size": None}, ["beam_size is None", "an integer"]),
        ({"length_penalty": float("nan")}, ["length_penalty is nan", "0 to 10"]),
        ({"alignments": 1}, ["alignments is 1", "true or false"]),
    ],
)
def test_a_wrong_option_is_an_error_that_helps(translator, options, parts):
    for call, texts in ((translator.translate, "lumi"), (translator.translate, []), (translator.translate_lines, ["lumi"])):
        with pytest.raises(attend.ConfigurationError) as error:
            call(texts, **options)
        assert isinstance(error.value, ValueError) and isinstance(error.value, attend.Error)
        assert all(part in str(error.value) for part in parts), error.value
        assert "\n" not in str(error.value)


def test_options_take_numpy_s_numbers(translator):
    options = {"beam_size": numpy.int64(2), "length_penalty": numpy.float64(1)}
    assert translator.translate(LINES, **options) == translator.translate(LINES, beam_size=2, length_penalty=1)


def test_drawn_outputs_are_those_of_the_program(translator):
    options = {"sample": True, "n_best": 4, "top_k": 20, "temperature": 1.5, "seed": 7}
    drawn = translator.translate(LINES, **options)
    expected = program("translate", "--model", GOLDEN, "--sample", *"--n-best 4 --top-k 20 --temperature 1.5 --seed 7".split(), stdin="\n".join(LINES) + "\n")
    found = [f"{i} ||| {each.text} ||| {each.score:.6f}" for i, translation in enumerate(drawn) for each in translation.hypotheses]
    assert found == expected.splitlines()
    assert drawn[2].hypotheses == translator.translate(LINES[2], **options).hypotheses
    assert drawn[2].hypotheses != translator.translate(LINES[2], **options | {"seed": 8}).hypotheses


@pytest.mark.parametrize("utility", ["chrf", "bleu"])
def test_minimum_bayes_risk_chooses_what_is_most_like_all_that_is_drawn(translator, utility):
    """By sacreBLEU's sentence scores."""
    sacrebleu = pytest.importorskip("sacrebleu")
    metric = sacrebleu.CHRF() if utility == "chrf" else sacrebleu.BLEU(effective_order=True)
    options = {"top_k": 20, "temperature": 1.5, "seed": 3}
    for line in LINES[:3]:
        drawn = [each.text for each in translator.translate(line, sample=True, n_best=16, **options).hypotheses]
        means = {text: sum(metric.sentence_score(text, [other]).score for other in drawn) / len(drawn) for text in drawn}
        best = translator.translate(line, mbr=utility, mbr_samples=16, **options)
        assert best == max(means, key=means.get)
        assert best.score == pytest.approx(means[best])


def test_groups_of_a_beam_differ(translator):
    greedy = translator.translate(LINES, beam_size=1)
    diverse = translator.translate(LINES, beam_size=4, n_best=4, beam_groups=4, diversity=5)
    for best, translation in zip(greedy, diverse, strict=True):
        assert translation.hypotheses[0] == best.hypotheses[0]
        assert len({each.text.split(" ")[0] for each in translation.hypotheses}) == len(translation.hypotheses)
    assert sum(len(translation.hypotheses) for translation in diverse) > 3 * len(LINES)
    with pytest.raises(attend.UsageError, match="beam_groups is 3, no divisor of the beam size of 4"):
        translator.translate(LINES, beam_groups=3)


def test_several_models_translate_together(tmp_path):
    """As the program does; the log-probability is the weighted mean of what each gives the text."""
    relative = random_models.write_relative(tmp_path / "relative", seed=3)
    both = attend.Translator.load([GOLDEN, relative], weights=[3, 1], threads=2)
    given = ("--model", GOLDEN, relative, "--model-weights", "3", "1", "--n-best", "2", "--alignments")
    expected = program("translate", *given, stdin="\n".join(LINES) + "\n")
    assert as_lines(both.translate(LINES, n_best=2, alignments=True), {"n_best": 2}) == expected
    first, second = attend.Translator(GOLDEN), attend.Translator(relative)
    compared = 0
    for line in set(LINES) - {""}:
        for best in both.translate(line, n_best=4, max_length=2).hypotheses:
            if both.target_vocabulary.encode(best.text) != best.ids:
                continue  # the text is cut in another way than it was written
            written = len(best.ids) + best.finished
            means = [sum(model.score(line, best.text).token_log_probabilities[:written]) for model in (first, second)]
            assert best.log_probability == pytest.approx(0.75 * means[0] + 0.25 * means[1], abs=1e-4)
            compared += 1
    assert compared
    assert attend.Translator.load([GOLDEN]).translate(LINES) == first.translate(LINES)
    with pytest.raises(attend.UsageError, match="scored by one"):
        both.score("lumi", "neri")
    with pytest.raises(attend.UsageError, match="1 weights for 2 models"):
        attend.Translator.load([GOLDEN, relative], weights=[1])
    for weights, words in (([1], "leave the weights out"), ([1, -1], "weight is -1")):
        with pytest.raises(attend.UsageError, match=words) as refused:
            attend.Translator.load([GOLDEN, relative][:len(weights)], weights=weights)
        assert "model_weights" not in str(refused.value)
    with pytest.raises(attend.UsageError, match="no path"):
        attend.Translator.load([])


def test_options_that_do_not_go_together(translator):
    for texts in ("lumi", []):
        with pytest.raises(attend.UsageError, match="n_best is 5, above the beam size of 4"):
            translator.translate(texts, n_best=5)


def test_the_model_s_options(tmp_path):
    with pytest.raises(attend.ConfigurationError, match="Translator: unknown option 'thread'; did you mean 'threads'"):
        attend.Translator(GOLDEN, thread=1)
    with pytest.raises(attend.ConfigurationError, match="type is 'int4', expected one of stored, f32, int8"):
        attend.Translator(GOLDEN, type="int4")
    with pytest.raises(attend.InputError, match="no_such") as error:
        attend.Translator(tmp_path / "no_such")
    assert isinstance(error.value, OSError)
    with pytest.raises(attend.InputError, match="no_such"):
        attend.Translator(GOLDEN, shortlist=tmp_path / "no_such")


@pytest.mark.parametrize("texts", [None, 7, b"lumi", [b"lumi"], ["lumi", 7], [["lumi"]]])
def test_what_is_no_text_is_a_type_error(translator, texts):
    with pytest.raises(TypeError):
        translator.translate(texts)


SURROGATES = [
    ("lumi \ud800", "lumi \ufffd"), ("\udce9\udc80 tavo\udfff", "\ufffd\ufffd tavo\ufffd"),
    ("\ud83d\ude00 \U0001f600 \ud7ff\ue000", "\ufffd\ufffd \U0001f600 \ud7ff\ue000"),
]


@pytest.mark.parametrize(("text", "repaired"), SURROGATES)
def test_lone_surrogates_are_replaced_and_counted(translator, text, repaired):
    vocabulary = translator.source_vocabulary
    calls = [
        lambda t: translator.translate(t).hypotheses,
        lambda t: [found.hypotheses for found in translator.translate(["olin", t])],
        lambda t: [found.hypotheses for found in translator.translate_lines(iter(["olin", t + "\n"]))],
        lambda t: translator.score(t, "olin"),
        lambda t: translator.score(["sona"], [t]),
        lambda t: translator.attention("olin", t).cross.tolist(),
        vocabulary.encode,
        lambda t: vocabulary.sample(t, 0.1, 3),
        vocabulary.id,
        lambda t: [attend.bleu([t], ["lumi"]), attend.chrf(["lumi"], [t]), attend.ter([t], [["lumi"]])],
    ]
    count = repaired.count("\ufffd")
    for call in calls:
        with pytest.warns(attend.MalformedTextWarning, match=rf"^{count} lone surrogates? became U\+FFFD, the first in text \d$"):
            found = call(text)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert found == call(repaired)
    with warnings.catch_warnings(), pytest.raises(attend.MalformedTextWarning):
        warnings.simplefilter("error")
        translator.translate(text)


@pytest.mark.parametrize(("model", "limit"), [(GOLDEN, 40), (LEARNED, 30), (LEARNED, 512)])
def test_a_long_text_is_translated_whole_as_the_program_does(model, limit):
    translator = attend.Translator(model, threads=1)
    long = "  Lumi tavo keri.  Neri dosa! Sona mipa, rudu vesta?\tOlin. " * 4
    lines = [*LINES[:6], long, "olin", long.strip()]
    options = {"n_best": 2, "alignments": True, "max_length": 8, "max_input_tokens": limit}
    assert len(translator.source_vocabulary.encode(long)) > (37 if model == LEARNED else limit)
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value is not True]
    expected = program("translate", "--model", model, "--alignments", "--threads=1", *words, stdin="\n".join(lines) + "\n")
    translations = translator.translate(lines, **options)
    assert as_lines(translations, options) == expected
    assert list(translator.translate_lines(lines, **options)) == translations
    found = translator.translate(long, **options)
    assert found == translations[6] and found.score == translations[6].score
    assert {target for _, target in found.alignment} == set(range(len(found.split())))
    assert max(source for source, _ in found.alignment) > len(long.split()) // 2
    with pytest.raises(attend.InputError, match=r"text 6 has \d+ tokens, expected at most"):
        translator.translate(lines, overlong="refuse", **options)


@pytest.mark.parametrize("before", [0, 5, 100])
def test_a_sentence_that_is_too_long_is_divided_or_named(before):
    translator = attend.Translator(LEARNED, threads=1)
    texts = ["olin"] * before + ["olin " * 40, "olin", "keri" * 60]
    translations = translator.translate(texts, beam_size=1)
    assert list(translator.translate_lines(texts, beam_size=1)) == translations
    assert [each.divided for each in translations] == [False] * before + [True, False, True]
    assert pickle.loads(pickle.dumps(translations[before])).divided
    assert "".join(f"{each}\n" for each in translations) == program("translate", "--model", LEARNED, "--beam-size=1", stdin="\n".join(texts) + "\n")
    with pytest.raises(attend.InputError, match=rf"text {before} has \d+ tokens, expected at most 37\b"):
        translator.translate(texts, beam_size=1, overlong="refuse")
    with pytest.raises(attend.InputError, match=rf"text {before} "):
        list(translator.translate_lines(texts, beam_size=1, overlong="refuse"))


def test_characters_that_the_vocabulary_lacks_are_counted(translator):
    texts = ["lumi 天地 tavo. keri 天", "lumi tavo", "天地", "*** 😀"]
    translations = translator.translate(texts)
    assert [each.unknown_characters for each in translations] == [3, 0, 2, 0]
    assert [each.unknown_characters for each in translator.translate_lines(texts)] == [3, 0, 2, 0]
    assert translator.translate(texts[0]).unknown_characters == pickle.loads(pickle.dumps(translations[0])).unknown_characters == 3


def test_white_space_at_the_ends_of_a_text_stays():
    translator = attend.Translator(GOLDEN, threads=1)
    alone = translator.translate("Lumi tavo keri.")
    for before, behind in (("  ", ""), ("\n\n", "\n"), ("\t", "\u3000 ")):
        text = translator.translate(f"{before}Lumi tavo keri.{behind}")
        assert text == before + alone + behind
    assert translator.translate(" \n ") == " \n "
