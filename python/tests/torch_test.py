"""attend.torch against the engine, and against the layers of training with every option of a model."""

import json
import shutil
import subprocess
import sys

import attend
import attend.torch
import numpy as np
import pytest
import random_models
import tiny_run
import torch
from numpy_transformer import read_safetensors
from package import BUILD, ENVIRONMENT, GOLDEN, LANGUAGE_MODEL, LEARNED
from pictures_test import as_png
from safetensors.torch import load_file, save_file
from torch.nn import functional

CASES = [
    "decoder_only", "decoder_output_tied", "encoder_only", "geglu_tanh", "post_norm", "pre_norm_gelu_biases", "rms_post_norm",
    "silu_timing_signal", "source_target_tied", "ssru", "swiglu_learned_untied", "t5", "tiny", "window",
]
ENCODERS = ["masked_tokens", "mean_labels", "relu_labels", "text_labels", "token_labels"]
PAD, BOS, EOS = 0, 2, 3
MASK = 4  # in vocabularies that have it
TEXTS = ["lumi tavo keri", "neri", "sona mipa, rudu vesta!", "olin lumi"]
WORDS = ["the small house", "a green door in the old wall", "new"]


def padded(rows):
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def log_probabilities(logits, rows):
    """Of each row's ids; logits [B, T, V]."""
    every = logits.log_softmax(-1)
    return [[every[b, t, token].item() for t, token in enumerate(row)] for b, row in enumerate(rows)]


def close(found, expected):
    torch.testing.assert_close(torch.as_tensor(found), torch.as_tensor(expected, dtype=torch.float32), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("directory", [GOLDEN, LEARNED, LANGUAGE_MODEL], ids=lambda path: path.name)
def test_samples_of_a_directory(directory):
    model = attend.torch.load(directory)
    assert not model.training
    for sample in json.loads((directory / "samples.json").read_text(encoding="utf-8")):
        inputs = [[sample["source_ids"]]] if sample["source_ids"] else []
        inputs.append([[BOS, *sample["target_ids"][:-1]]])
        logits = model(*map(torch.tensor, inputs))
        close(log_probabilities(logits, [sample["target_ids"]])[0], sample["token_log_probabilities"])
        for top in sample["top_logits"]:
            close(logits[0, top["position"], top["ids"]], top["logits"])


def in_f32(int8, folder):
    """The same directory with the matrices' rows times their scales."""
    shutil.copytree(int8, folder)
    tensors = read_safetensors(int8 / "model.safetensors")
    weights = {name: array * tensors.get(name + "_scale", np.ones(1))[:, None] if array.dtype == np.int8 else array
               for name, array in tensors.items() if not name.endswith("_scale")}
    save_file({name: torch.tensor(array, dtype=torch.float32) for name, array in weights.items()}, folder / "model.safetensors")
    return folder


@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("directory", [GOLDEN, LEARNED], ids=lambda path: path.name)
def test_a_padded_batch_has_the_scores_of_the_engine(directory, int8, tmp_path):
    of_engine = directory
    if int8:  # products of the engine round there what comes in, too, so it runs the same weights in f32
        attend.quantize(directory, tmp_path / "int8")
        directory = tmp_path / "int8"
        of_engine = in_f32(directory, tmp_path / "f32")
    translator = attend.Translator(of_engine, threads=1)
    outputs = translator.translate(TEXTS, max_length=12)
    sources = [[*translator.source_vocabulary.encode(text), EOS] for text in TEXTS]
    targets = [[*translator.target_vocabulary.encode(text), EOS] for text in outputs]
    logits = attend.torch.load(directory)(padded(sources), padded([[BOS, *target[:-1]] for target in targets]))
    scores = translator.score(TEXTS, outputs)
    for found, score in zip(log_probabilities(logits, targets), scores, strict=True):
        close(found, score.token_log_probabilities)


def test_a_language_model_has_the_scores_of_the_engine():
    generator = attend.Generator(LANGUAGE_MODEL, threads=1)
    texts = ["The dog sees a tree.", "A", "The old man"]
    ids = [[*generator.vocabulary.encode(text), EOS] for text in texts]
    logits = attend.torch.load(LANGUAGE_MODEL)(padded([[BOS, *row[:-1]] for row in ids]))
    for found, score in zip(log_probabilities(logits, ids), generator.score(texts), strict=True):
        close(found, score.token_log_probabilities)


@pytest.fixture(name="encoders", scope="module")
def random_encoders(tmp_path_factory):
    models = random_models.write_encoders(tmp_path_factory.mktemp("encoders"))
    # Without a scheme a label's probability depends on its word alone.
    config = models["tagging"] / "config.json"
    config.write_text(config.read_text(encoding="utf-8").replace('"iob2"', '"none"'), encoding="utf-8")
    return models


def words_of(directory, texts):
    vocabulary = attend.Vocabulary(directory / "vocab.spm")
    return padded([[BOS, *vocabulary.encode(text), EOS] for text in texts])


@pytest.mark.parametrize("task", random_models.OF_TASKS)
def test_states_are_the_vectors_of_the_engine(encoders, task):
    ids = words_of(encoders[task], WORDS)
    hidden = attend.torch.load(encoders[task]).hidden(ids)
    encoder = attend.Encoder(encoders[task], threads=1)
    close(hidden[:, 0], encoder.embed(WORDS, pooling="first"))
    words = (ids != PAD).unsqueeze(-1)
    close((hidden * words).sum(1) / words.sum(1), encoder.embed(WORDS, pooling="mean"))


def test_labels_have_the_probabilities_of_the_engine(encoders):
    model = attend.torch.load(encoders["classification"])
    probabilities = model(words_of(encoders["classification"], WORDS)).softmax(-1)
    for row, found in zip(probabilities, attend.Classifier(encoders["classification"]).classify(WORDS), strict=True):
        close(row, [dict(found.classes)[label] for label in model.config.labels])
    model = attend.torch.load(encoders["tagging"])
    probabilities = model(words_of(encoders["tagging"], WORDS)).softmax(-1)
    for row, found in zip(probabilities, attend.Tagger(encoders["tagging"]).tag(WORDS), strict=True):
        best = row[1:1 + len(found.words)].max(-1)  # after bos; each word of this vocabulary is one token
        assert [model.config.labels[label] for label in best.indices] == [word.label for word in found.words]
        close(best.values, [word.probability for word in found.words])


def test_hidden_tokens_have_the_probabilities_of_the_engine(encoders):
    directory = encoders["masked_language_model"]
    vocabulary = attend.Vocabulary(directory / "vocab.spm")
    assert vocabulary.decode([MASK]) == "[MASK]"
    ids = torch.tensor([[BOS, *vocabulary.encode("the"), MASK, *vocabulary.encode("house"), EOS]])
    probabilities = attend.torch.load(directory)(ids)[0, 2].softmax(-1)
    for token, _, probability in attend.Encoder(directory).fill("the [MASK] house", top=5).masks[0]:
        (token_id,) = vocabulary.encode(token)
        close(probabilities[token_id], probability)


@pytest.mark.parametrize("inputs", ["text", "picture", "links", "text picture", "text links", "picture links", "text picture links"])
def test_items_have_the_probabilities_of_the_engine(inputs, tmp_path):
    directory = random_models.write_item_model(tmp_path)
    engine = attend.ItemClassifier(directory, threads=1)
    assert isinstance(attend.load(directory), attend.ItemClassifier)
    model = attend.torch.load(directory)
    pixels = np.random.default_rng(3).integers(0, 256, (8, 8), dtype=np.uint8)
    whole = {"text": TEXTS[0], "picture": as_png(pixels), "links": ["wood", "barn"]}
    ids = torch.tensor([[BOS, *attend.Vocabulary(directory / "vocab.spm").encode(TEXTS[0]), EOS]])
    tensors = {"text": ids, "picture": model.patches_of(torch.tensor(pixels)[None, ..., None]), "links": torch.tensor([[2, 0]])}
    logits = model(*(tensors[name] if name in inputs else None for name in tensors))
    found = engine.classify([{name: whole[name] if name in inputs else None for name in whole}], contributions=True)[0]
    for label, probability in found.classes:
        close(torch.tensor(probability), logits.softmax(-1)[0, engine.labels.index(label)])
    if "links" not in inputs and len(inputs.split()) == 1:  # vectors of a text or a picture by itself
        vectors = model.vectors(*((model.text, ids) if inputs == "text" else (model.picture, tensors["picture"])))
        assert engine.shared_width == 6 and engine.embed([whole], of=inputs).shape == (1, 6)
        close(torch.from_numpy(engine.embed([whole], of=inputs)), vectors)
    assert set(found.contributions) == set(inputs.split())
    assert None in found.contributions.values() or " " in inputs
    with pytest.raises(attend.InputError, match="link 'wod' is no node of the model's graph; did you mean 'wood'"):
        engine.classify([{"links": ["wod"]}])
    with pytest.raises(attend.InputError, match="item 70: link 'wod'"):
        engine.classify([{"id": "1", "label": "red", "links": ["wood"]}] * 69 + [{"links": ["wod"]}])
    with pytest.raises(attend.UsageError, match="of is 'links', expected text or picture"):
        engine.embed([whole], of="links")


class Case:
    """What training's layers computed, and a model directory of the same weights."""

    def __init__(self, folder, name, more=None):
        tensors = load_file(folder / f"{name}.safetensors")
        model = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        model = {"encoder": None, "decoder": None, "patches": None, "frames": None, "fusion": None} | model | (more or {})
        self.tensors = tensors
        self.weights = self.under("weights.")
        self.directory = folder / f"{name}.{len(more or {})}.model"
        self.directory.mkdir(exist_ok=True)
        config = json.loads((GOLDEN / "config.json").read_text(encoding="utf-8"))
        config |= {"format_version": 14, "training_text": None, "model": model, "sha256": {"model.safetensors": "0" * 64}}
        (self.directory / "config.json").write_text(json.dumps(config), encoding="utf-8")

    def under(self, prefix):
        return {name.removeprefix(prefix): tensor for name, tensor in self.tensors.items() if name.startswith(prefix)}

    def load(self):
        save_file(self.weights, self.directory / "model.safetensors")
        return attend.torch.load(self.directory)

    def check_gradients(self, model):
        expected = self.under("gradients.")
        found = dict(model.named_parameters())
        assert sorted(found) == sorted(expected)
        for name, gradient in expected.items():
            error = (found[name].grad - gradient).norm()
            assert error <= 2e-5 * gradient.norm() + 1e-6, (name, error, gradient.norm())


@pytest.fixture(name="cases", scope="module")
def what_layers_computed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    subprocess.run([BUILD / "tests/nn_cases", folder], check=True)
    return folder


@pytest.mark.parametrize("name", CASES)
def test_every_option_of_stacks(cases, name):
    case = Case(cases, name)
    model = case.load()
    assert sorted(dict(model.named_parameters())) == sorted(case.weights)
    source, target = case.tensors["source"], case.tensors["target"]
    if model.decoder is None:
        close(model.hidden(source), case.tensors["encoder.output"])
        return
    inputs = [source, target[:, :-1]] if model.encoder else [target[:, :-1]]
    close(model.hidden(*inputs), case.tensors["decoder.output"])
    logits = model(*inputs)
    close(logits, case.tensors["logits"])
    loss = functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), label_smoothing=0.1, ignore_index=PAD)
    close(loss, case.tensors["loss"])
    loss.backward()
    case.check_gradients(model)


@pytest.mark.parametrize("name", ENCODERS)
def test_every_option_of_encoders(cases, name):
    case = Case(cases, name)
    model = case.load()
    offsets = case.tensors["offsets"].tolist()
    texts = [case.tensors["ids"][first:last].tolist() for first, last in zip(offsets, offsets[1:])]
    source = padded(texts)
    close(model.hidden(source)[source != PAD], case.tensors["hidden"])
    logits = model(source)
    if model.config.pooling == "tokens":
        logits = logits[source != PAD]
    close(logits, case.tensors["logits"])
    loss = functional.cross_entropy(logits, torch.arange(len(logits)) % logits.shape[1])
    close(loss, case.tensors["loss"])
    loss.backward()
    case.check_gradients(model)


def test_a_conditional_random_field_keeps_its_scores(cases):
    case = Case(cases, "token_labels", {"crf": True})
    for number, (name, shape) in enumerate([("begin", [5]), ("end", [5]), ("transitions", [5, 5])]):
        case.weights["head." + name] = torch.full(shape, number + 1.0)
    model = case.load()
    assert (model.head.begin[0], model.head.end[0], model.head.transitions[4, 4]) == (1, 2, 3)


def test_a_training_step_lowers_the_loss():
    model = attend.torch.load(GOLDEN)
    source, target = torch.tensor([[22, 18, 23, EOS]]), torch.tensor([[BOS, 27, 37, 14, EOS]])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for _ in range(3):
        loss = functional.cross_entropy(model(source, target[:, :-1])[0], target[0, 1:])
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.95 * losses[0]
    again = attend.torch.load(GOLDEN)(source, target[:, :-1])[0]  # of the file, which is as it was
    close(functional.cross_entropy(again, target[0, 1:]), losses[0])


def test_other_types_and_the_generator_of_random_numbers():
    torch.manual_seed(5)
    model = attend.torch.load(GOLDEN)
    drawn = torch.rand(1)
    torch.manual_seed(5)
    assert torch.equal(drawn, torch.rand(1))
    ids = torch.tensor([[22, 18, EOS]]), torch.tensor([[BOS, 27]])
    expected = model(*ids)
    found = model.double()(*ids)
    assert found.dtype == torch.float64
    close(found.float(), expected)


def test_what_is_wrong_is_told(tmp_path, cases):
    with pytest.raises(attend.InputError, match="nothing"):
        attend.torch.load(tmp_path / "nothing")
    (tmp_path / "run").mkdir()
    shutil.copytree(GOLDEN, tmp_path / "run/model")
    with pytest.raises(attend.InputError, match="did you mean '.*run/model'"):
        attend.torch.load(tmp_path / "run")
    tensors = load_file(GOLDEN / "model.safetensors")
    save_file(dict(list(tensors.items())[1:]), tmp_path / "run/model/model.safetensors")
    with pytest.raises(attend.InputError, match="model.safetensors: tensor '.*' is missing"):
        attend.torch.load(tmp_path / "run/model")
    ids = torch.tensor([[22, 18, EOS]])
    with pytest.raises(attend.UsageError, match="expected two, source and target"):
        attend.torch.load(GOLDEN)(ids)
    with pytest.raises(attend.UsageError, match="expected one"):
        attend.torch.load(LANGUAGE_MODEL).hidden(ids, ids)
    with pytest.raises(attend.InputError, match="42 learned positions, the model has 40"):
        attend.torch.load(LEARNED)(torch.full([1, 40], 5), ids)
    with pytest.raises(attend.UsageError, match="no head"):
        Case(cases, "encoder_only").load()(ids)


@pytest.mark.parametrize("package", ["torch", "safetensors"])
def test_a_missing_package_is_named(package):
    code = f"import sys\nsys.modules['{package}'] = None\nimport attend\nimport attend.torch"
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].startswith(f"ModuleNotFoundError: attend.torch needs the package {package}")
    assert "pip install torch safetensors" in done.stderr


def test_the_page_of_python(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/model").symlink_to(GOLDEN)
    assert tiny_run.run_page_block("attend.torch", {"my-model": tmp_path / "run"}) == "torch.Size([1, 1, 52])\n"
