"""Models with adapters against the program's."""

import attend
import pytest
import random_models
from package import GOLDEN, LANGUAGE_MODEL, LINES, program


@pytest.fixture(name="adapter", scope="module")
def random_adapter(tmp_path_factory):
    return random_models.write_adapter(tmp_path_factory.mktemp("adapters") / "one", GOLDEN)


@pytest.mark.parametrize("weights", ["stored", "int8"])
def test_a_translator_with_an_adapter(adapter, weights):
    translator = attend.Translator(GOLDEN, adapter=adapter, type=weights, threads=2)
    printed = program("translate", "--model", GOLDEN, "--adapter", adapter, "--type", weights, "--scores", "--quiet", stdin="\n".join(LINES))
    wanted = [line.rsplit(" ||| ", 1) for line in printed.splitlines()]
    assert [[str(result), f"{result.score:.6f}"] for result in translator.translate(LINES)] == wanted
    plain = attend.Translator(GOLDEN, type=weights, threads=2).translate(LINES)
    assert [result.score for result in plain] != [result.score for result in translator.translate(LINES)]
    loaded = attend.load(GOLDEN, adapter=str(adapter), type=weights)
    assert isinstance(loaded, attend.Translator) and loaded.translate(LINES) == translator.translate(LINES)


def test_a_generator_with_an_adapter(tmp_path):
    adapter = random_models.write_adapter(tmp_path / "one", LANGUAGE_MODEL)
    with_adapter, plain = attend.load(LANGUAGE_MODEL, adapter=adapter), attend.Generator(LANGUAGE_MODEL)
    merged = tmp_path / "merged"
    program("export", "--adapter", adapter, "--model", LANGUAGE_MODEL, "--output", merged, "--quiet")
    text = "lumi tavo"
    found = attend.Generator(LANGUAGE_MODEL, adapter=adapter).score(text).log_probability
    assert found == with_adapter.score(text).log_probability == attend.load(merged).score(text).log_probability
    assert found != plain.score(text).log_probability


def test_what_is_no_adapter_of_the_model_is_refused(adapter, tmp_path):
    with pytest.raises(attend.InputError, match="is a model, expected an adapter"):
        attend.load(GOLDEN, adapter=GOLDEN)
    with pytest.raises(attend.InputError, match="is an adapter, which runs with the model"):
        attend.load(adapter)
    with pytest.raises(attend.InputError, match="was trained on another model"):
        attend.load(LANGUAGE_MODEL, adapter=adapter)
    with pytest.raises(attend.InputError, match="nowhere"):
        attend.Translator(GOLDEN, adapter=tmp_path / "nowhere")
