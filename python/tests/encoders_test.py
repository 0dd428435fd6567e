"""attend.Tagger, attend.Classifier and attend.Encoder against the program; attention of every class of one stack."""

import json
import threading
import warnings

import attend
import pytest
import random_models
from package import GOLDEN, LANGUAGE_MODEL, program

TEXTS = ["the small house is new", "a green door", "", "the wall , the wood of a door"]
REACH = 12  # tokens of a text, beside bos and eos


@pytest.fixture(name="encoders", scope="module")
def random_encoders(tmp_path_factory):
    return random_models.write_encoders(tmp_path_factory.mktemp("encoders"))


@pytest.fixture(name="short", scope="module")
def encoders_of_short_texts(tmp_path_factory):
    return random_models.write_encoders(tmp_path_factory.mktemp("short"), positions="learned", max_positions=REACH + 2)


@pytest.fixture(name="tagger", scope="module")
def random_tagger(encoders):
    return attend.Tagger(encoders["tagging"], threads=2)


def test_a_model_says_what_it_is(tagger, encoders):
    assert repr(tagger) == f"Tagger('{encoders['tagging']}', f32, 2 threads)"
    assert repr(attend.Classifier(encoders["classification"], threads=1, type="int8")) == f"Classifier('{encoders['classification']}', int8, 1 thread)"
    assert repr(attend.load(encoders["masked_language_model"], threads=3)) == f"Encoder('{encoders['masked_language_model']}', f32, 3 threads)"
    assert repr(attend.Generator(LANGUAGE_MODEL, threads=1)) == f"Generator('{LANGUAGE_MODEL}', f32, 1 thread)"
    assert repr(attend.Translator(GOLDEN, threads=1)) == f"Translator('{GOLDEN}', f32, 1 thread)"


@pytest.mark.parametrize(("name", "task", "right"), [
    ("Tagger", "classification", "Classifier"), ("Classifier", "tagging", "Tagger"), ("Generator", "masked_language_model", "Encoder"),
    ("Translator", "tagging", "Tagger")])
def test_a_model_of_another_task_names_its_class(encoders, name, task, right):
    with pytest.raises(attend.UsageError, match=f"^the model's task is {task}, which attend.{name} is not for; use attend.{right} or attend.load$"):
        getattr(attend, name)(encoders[task])


def test_what_no_encoder_can_do_names_the_class(encoders):
    with pytest.raises(attend.UsageError, match="^the model's task is language_model, which attend.Encoder is not for; use attend.Generator or attend.load$"):
        attend.Encoder(LANGUAGE_MODEL)
    with pytest.raises(attend.UsageError, match="^the model's task is tagging, which attend.Encoder.fill is not for; use attend.Tagger or attend.load$"):
        attend.Encoder(encoders["tagging"]).fill("[MASK]")


def test_divided_words_get_the_labels_of_columns(tagger, encoders):
    sentences = [text.split() for text in TEXTS if text] * 10
    columns = "".join("\n".join(words) + "\n\n" for words in sentences)
    printed = program("tag", "--columns", "--model", encoders["tagging"], stdin=columns)
    wanted = [[line.split() for line in block.splitlines()] for block in printed.strip().split("\n\n")]
    results = tagger.tag_words(iter([tuple(words) for words in sentences]))
    assert [[[word.text, word.label] for word in result.words] for result in results] == wanted
    assert len({label for sentence in wanted for _, label in sentence}) > 2
    for words, result in zip(sentences[:3], results, strict=False):
        assert tagger.tag_words(words) == tagger.tag_words(tuple(words)) == result
        assert [" ".join(words)[word.begin:word.end] for word in result.words] == words
    assert tagger.tag_words([]) == []


def test_filled_masks_are_those_of_the_program(tmp_path):
    model, text = random_models.write_filler_of_pieces(tmp_path), "the [MASK] house [MASK]"
    wanted = json.loads(program("fill", "--model", model, "--json", "--top", "6", text))
    found = attend.Encoder(model).fill(text, top=6)
    assert isinstance(found.masks[0][0], attend.FillingToken) and found.text == wanted["filled"]
    assert [[token._asdict() for token in tokens] for tokens in found.masks] == wanted["masks"]
    assert {token.begins_word for tokens in found.masks for token in tokens} == {True, False}


@pytest.mark.parametrize(("words", "error", "part"), [
    ("the house", TypeError, "put it in a list"), (["the", 7], TypeError, "expected a str, found int"), (["the house", ["a"]], TypeError, "expected a str"),
    ([["the"], "house"], TypeError, "put it in a list"), ([["the"], ["a", ""]], attend.UsageError, "sentence 1 holds an empty word"), (7, TypeError, None)])
def test_what_is_no_list_of_words_is_refused(tagger, words, error, part):
    with pytest.raises(error, match=part):
        tagger.tag_words(words)


@pytest.mark.parametrize(("task", "method", "text"), [
    ("masked_language_model", "embed", "the"), ("masked_language_model", "fill", "[MASK] the"), ("classification", "classify", "the"),
    ("tagging", "embed", "the")])
def test_a_text_that_is_cut_is_told(short, task, method, text):
    model = attend.Encoder(short[task]) if method == "embed" else attend.load(short[task])
    long = text + " house" * 20
    with pytest.warns(attend.CutTextWarning, match="^2 texts are longer than the model can read, of which the beginning was used; the first is text 1$"):
        getattr(model, method)([text, long, text, long])
    with pytest.warns(attend.CutTextWarning, match="^1 text is longer .* the first is text 0$"):
        getattr(model, method)(long)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(model, method)([text] * 3)
        getattr(model, method)(" ".join((text + " house" * REACH).split()[:REACH]))
        with pytest.raises(attend.CutTextWarning):
            getattr(model, method)(long)


def test_a_tagger_cuts_nothing(short):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(attend.load(short["tagging"]).tag("the house " * 20).words) == 40


@pytest.mark.parametrize("task", [*random_models.OF_TASKS, "language_model", "embedding"])
def test_attention_is_that_of_the_program(encoders, tmp_path, task):
    numpy = pytest.importorskip("numpy")
    directory = {"language_model": LANGUAGE_MODEL, "embedding": encoders["tagging"]}.get(task) or encoders[task]
    model = attend.Encoder(directory) if task == "embedding" else attend.load(directory)
    text = "The small house"
    program("attention", "--model", directory, "--source", text, "--output", tmp_path / "a.json")
    (wanted,) = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["kinds"].values()
    found = model.attention(text)
    assert isinstance(found, attend.TextAttention)
    assert found.pieces == wanted["queries"] == wanted["keys"]
    assert found.weights.shape == (2, 4, len(found.pieces), len(found.pieces)) and found.weights.dtype == numpy.float32
    numpy.testing.assert_allclose(found.weights, wanted["weights"], atol=1e-6)
    numpy.testing.assert_allclose(found.weights.sum(-1), 1, atol=1e-5)
    ahead = numpy.triu(numpy.ones(found.weights.shape[2:]), 1) * found.weights
    assert (ahead == 0).all() == (task == "language_model")


def test_too_long_a_text_has_no_attention(short):
    for model in (attend.load(short["classification"]), attend.Encoder(short["masked_language_model"])):
        with pytest.raises(attend.InputError, match="longer than the 12 tokens"):
            model.attention("house " * 13)


def test_threads_share_every_class(encoders):
    tagger, classifier = attend.load(encoders["tagging"], threads=2), attend.load(encoders["classification"], threads=2)
    encoder, vocabulary = attend.Encoder(encoders["masked_language_model"], threads=2), attend.Vocabulary(LANGUAGE_MODEL / "vocab.spm")
    calls = [
        lambda: tagger.tag(TEXTS * 5), lambda: tagger.tag_words([["the", "house"]] * 9), lambda: classifier.classify(TEXTS * 5),
        lambda: encoder.fill(["the [MASK]", "[MASK] house"] * 5), lambda: encoder.embed(TEXTS * 5).tolist(),
        lambda: encoder.attention(TEXTS[0]).weights.tolist(), lambda: vocabulary.decode(vocabulary.encode(TEXTS[0]))]
    expected, wrong = [call() for call in calls], []

    def work(number):
        for turn in range(number, number + 4 * len(calls)):
            if calls[turn % len(calls)]() != expected[turn % len(calls)]:
                wrong.append(turn)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
