"""attend.Generator and attend.load against the program."""

import gc
import json
import pickle
import threading

import attend
import pytest
from package import GOLDEN, LANGUAGE_MODEL, program

PROMPTS = ["The", "A small", "", "The old man sees\nThe"]


@pytest.fixture(name="generator", scope="module")
def golden_generator():
    return attend.Generator(LANGUAGE_MODEL, threads=2)


def printed(*prompts, **options):
    """What the program says of each prompt's outputs."""
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    lines = program("generate", *prompts, "--model", LANGUAGE_MODEL, "--json", *arguments).splitlines()
    return [json.loads(line)["outputs"] for line in lines]


@pytest.mark.parametrize("options", [
    {"temperature": 0}, {"n": 3, "seed": 5}, {"top_k": 3, "repetition_penalty": 1.5}, {"top_p": 0.7, "min_p": 0.1}, {"stop": " house"},
    {"beam_size": 4, "n": 2}])
def test_texts_are_those_of_the_program(generator, options):
    results = generator.generate(PROMPTS, max_tokens=30, **options)
    wanted = printed(*PROMPTS, max_tokens=30, **options)
    assert [[output._asdict() for output in result.outputs] for result in results] == wanted
    for prompt, result in zip(PROMPTS, results, strict=True):
        alone = generator.generate(prompt, max_tokens=30, **options)
        assert (alone, alone.outputs) == (result, result.outputs)
        assert (str(alone), alone.ids, alone.log_probability, alone.ending) == (
            alone.outputs[0].text, alone.outputs[0].ids, alone.outputs[0].log_probability, alone.outputs[0].ending)
    again = pickle.loads(pickle.dumps(results[0]))
    assert (again, again.outputs) == (results[0], results[0].outputs)


def test_a_stream_is_the_text_in_pieces(generator):
    options = {"max_tokens": 60, "seed": 9, "stop": ["boat", "door"]}
    pieces = list(generator.stream("The", **options))
    assert "".join(pieces) == generator.generate("The", **options)
    assert len(pieces) > 20 and all(pieces)


def test_streams_that_are_let_go_end(generator):
    streams = [generator.stream("The", max_tokens=10**6, min_tokens=10**6) for _ in range(4)]
    assert all(next(stream) for stream in streams)
    del streams
    gc.collect()
    assert generator.generate("The", max_tokens=5, seed=3) == printed("The", max_tokens=5, seed=3)[0][0]["text"]


def test_calls_of_many_threads_do_not_change_texts(generator):
    wanted = [printed(prompt, max_tokens=40, seed=2)[0][0]["text"] for prompt in PROMPTS]
    found = [None] * 8

    def ask(i):
        found[i] = generator.generate(PROMPTS[i % 4], max_tokens=40, seed=2)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == wanted * 2


def test_scores_are_those_of_generate_and_the_program(generator, tmp_path):
    output = generator.generate("The dog sees", max_tokens=20, seed=4).outputs[0]
    score = generator.score("The dog sees" + output.text, end=False)
    assert score.token_log_probabilities[12:] == pytest.approx(output.token_log_probabilities[:len(output.ids)], abs=1e-9)
    assert score.log_probability == pytest.approx(sum(score.token_log_probabilities))
    texts = ["The dog sees a green tree.", "A small child", ""]
    (tmp_path / "texts").write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    lines = program("score", "--model", LANGUAGE_MODEL, "--input", tmp_path / "texts", "--window", 10, "--stride", 5).splitlines()
    assert lines == [f"{score.log_probability:.6f}" for score in generator.score(texts, window=10, stride=5)]


def test_what_is_wrong_is_told(generator):
    with pytest.raises(attend.UsageError, match="n is 2, expected 1"):
        generator.stream("a", n=2)
    with pytest.raises(attend.ConfigurationError, match="max_tokens"):
        generator.generate("a", max_token=2)
    with pytest.raises(attend.UsageError, match="a stop text is empty"):
        generator.generate("a", stop=[""])
    with pytest.raises(attend.UsageError, match="use attend.Translator"):
        attend.Generator(GOLDEN)
    with pytest.raises(attend.UsageError, match="use attend.Generator"):
        attend.Translator(LANGUAGE_MODEL)
    with pytest.raises(TypeError):
        generator.generate(["a", 7])


def test_load_gives_the_class_of_the_task(translator):
    generator = attend.load(LANGUAGE_MODEL, threads=1, type="int8")
    assert isinstance(generator, attend.Generator)
    assert generator.vocabulary.decode(generator.vocabulary.encode("The dog")) == "The dog"
    loaded = attend.load(GOLDEN)
    assert isinstance(loaded, attend.Translator)
    assert loaded.translate("lumi tavo") == translator.translate("lumi tavo")
    with pytest.raises(attend.InputError):
        attend.load(LANGUAGE_MODEL / "nothing")
