"""Training a masked language model: it learns what words follow from, resumes to the bit, and its model proves itself."""

import json
import pathlib
import math
import random
import shutil
import subprocess
import sys

import data_parallel_test
import labels_test
import numpy
import pytest
import tiny_run
from numpy_transformer import read_safetensors

PAIRS = {"red": "apple", "blue": "sky", "green": "grass", "white": "snow", "black": "coal", "yellow": "sun"}


def write_text(path, seed, lines):
    """A colour stands before the only thing that has it: each tells the other."""
    numbers = random.Random(seed)
    text = [" ".join(f"{colour} {PAIRS[colour]}" for colour in numbers.choices(list(PAIRS), k=4)) for _ in range(lines)]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


@pytest.fixture(name="options", scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    write_text(folder / "train.txt", 1, 400)
    write_text(folder / "valid.txt", 2, 40)
    write_text(folder / "test.txt", 3, 40)
    return {
        "task": "masked_language_model",
        "preset": "bert-tiny",
        "train_text": folder / "train.txt",
        "valid_text": folder / "valid.txt",
        "test_text": folder / "test.txt",
        "vocab_type": "word",
        "vocab_size": 40,
        "context_tokens": 16,
        "encoder.layers": 2,
        "encoder.d_model": 32,
        "encoder.heads": 4,
        "encoder.d_ff": 64,
        "encoder.max_positions": 20,
        "dropout": 0.05,
        "label_smoothing": 0,
        "batch_tokens": 576,
        "worker_threads": 2,
        "threads": 2,
        "schedule": "cosine",
        "peak_learning_rate": 0.005,
        "warmup_updates": 50,
        "max_updates": 600,
        "validate_every": 200,
        "checkpoint_every": 100,
        "report_every": 40,
        "average_last": 1,
    }


@pytest.fixture(name="run", scope="module")
def trained_run(options, tmp_path_factory):
    output = tmp_path_factory.mktemp("run") / "run"
    tiny_run.trained(options, output)
    return output


def test_it_learns_which_words_go_together(run):
    validations = [line["validation"] for line in tiny_run.metrics(run) if "validation" in line]
    assert len(validations) == 3
    assert validations[-1]["loss"] < validations[0]["loss"] < math.log(40)
    assert validations[-1]["perplexity"] == pytest.approx(math.exp(validations[-1]["loss"]))
    # By chance one in six words is right where the kind of word is known.
    assert validations[-1]["accuracy"] > 50
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    assert result["accuracy"] == pytest.approx(validations[-1]["accuracy"], abs=20)


def test_the_model_proves_itself(run):
    done = subprocess.run([tiny_run.ATTEND, "verify", run / "model"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_killed_run_ends_in_the_same_bits(options, run, tmp_path):
    tiny_run.trained_though_killed(options, tmp_path / "run", updates=105)
    tiny_run.assert_same(tmp_path / "run", run)


def test_so_does_one_of_streamed_text(options, tmp_path):
    options = tiny_run.streamed_documents(options, tmp_path)
    tiny_run.trained(options, tmp_path / "unbroken")
    tiny_run.trained_though_killed(options, tmp_path / "killed", updates=105)
    tiny_run.assert_same(tmp_path / "killed", tmp_path / "unbroken")


def test_two_processes_train_as_one(options, tmp_path):
    few = options | {"max_updates": 20, "validate_every": 10, "threads": 1, "accumulate": 3}
    tiny_run.trained(few, tmp_path / "one")
    data_parallel_test.trained(few, tmp_path / "two")
    data_parallel_test.assert_close(tmp_path / "two", tmp_path / "one")
    assert data_parallel_test.values(tmp_path / "two", "perplexity") == pytest.approx(
        data_parallel_test.values(tmp_path / "one", "perplexity"), rel=1e-4)


def test_bf16_learns_as_f32(options, run, tmp_path):
    def losses(output):
        return [line["loss"] for line in tiny_run.metrics(output) if "loss" in line]

    tiny_run.trained(options | {"precision": "bf16"}, tmp_path / "run")
    exact, rounded = losses(run), losses(tmp_path / "run")
    assert rounded != exact
    assert rounded[:10] == pytest.approx(exact[:10], rel=0.02)
    assert sum(rounded[-20:]) == pytest.approx(sum(exact[-20:]), rel=0.2, abs=1)


def test_the_head_is_as_the_options_say(options, tmp_path):
    few = options | {"max_updates": 2, "validate_every": 2}
    tiny_run.trained(few, tmp_path / "default")
    tiny_run.trained(few | {"head_bias=false": [], "tie_target_output=false": []}, tmp_path / "other")
    names = [set(read_safetensors(tmp_path / run / "model/model.safetensors")) for run in ("default", "other")]
    assert names[0] - names[1] == {"head.bias"} and names[1] - names[0] == {"head.weight"}
    attend("verify", tmp_path / "other/model")


# No update changes a weight of the encoder with so low a rate.
STILL = {"peak_learning_rate": 1e-20, "warmup_updates": 0, "max_updates": 1, "validate_every": 1, "checkpoint_every": 1}


def in_known_words(line):
    """A line of a table, or of columns, in words that the masked language model knows."""
    known = [*PAIRS, *PAIRS.values()]

    def change(text):
        return " ".join(known[sum(word.encode()) % len(known)] for word in text.split())

    if "\t" in line:
        label, text = line.split("\t")
        return f"{label}\t{change(text)}"
    word, _, label = line.partition(" ")
    return f"{change(word)} {label}" if label and word != "-DOCSTART-" else line


@pytest.fixture(name="labelled", scope="module", params=["tagging", "classification"])
def labelled_options(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    options = labels_test.make_options(request.param, folder)
    for path in folder.iterdir():
        path.write_text("".join(in_known_words(line) + "\n" for line in path.read_text(encoding="utf-8").splitlines()), encoding="utf-8")
    return {name: value for name, value in options.items() if not name.startswith(("vocab", "encoder.", "preset"))}


def test_a_model_of_labels_begins_with_the_encoder(run, labelled, tmp_path):
    options = labelled | STILL | {"init": run / "model"}
    tiny_run.trained(options, tmp_path / "run")
    begun, given = (read_safetensors(folder / "model/model.safetensors") for folder in (tmp_path / "run", run))
    encoder = [name for name in given if name.startswith("encoder.")]
    assert len(encoder) > 20 and encoder == [name for name in begun if name.startswith("encoder.")]
    for name in encoder:
        numpy.testing.assert_allclose(begun[name], given[name], rtol=0, atol=1e-12, err_msg=name)
    # The head is new: nothing of the old one's transform, and weights drawn at random.
    assert {name for name in begun if name.startswith("head.")} == {"head.weight", "head.bias"}
    assert numpy.std(begun["head.weight"]) > 0.1
    assert (tmp_path / "run/model/vocab.spm").read_bytes() == (run / "model/vocab.spm").read_bytes()


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"vocab_size": 50}, ["vocab_size is 50", "the vocabulary given has"]),
        ({"vocab_type": "bpe"}, ["vocab_type is bpe", "the vocabulary given is of type word"]),
        ({"normalization": "none"}, ["normalization changes only a vocabulary that is made", "init gives one"]),
        ({"case": "lower"}, ["case is lower, but the vocabulary given has keep"]),
        ({"vocab": "other.spm"}, ["vocab and init are both given"]),
        ({"encoder.layers": 3}, ["encoder.layers is 3", "has 2; leave it out when fine-tuning"]),
        ({"preset": "bert-base"}, ["encoder.layers of preset bert-base is 12", "has 2; leave preset out when fine-tuning"]),
    ],
)
def test_another_vocabulary_or_shape_is_refused(run, labelled, tmp_path, change, parts):
    done = tiny_run.train(labelled | {"init": run / "model"} | change, tmp_path / "run")
    tiny_run.refused(done, 2, *parts)
    assert not (tmp_path / "run/checkpoints").exists()


@pytest.mark.parametrize("part", ["valid", "test"])
def test_text_without_a_known_word_is_refused(options, tmp_path, part):
    (tmp_path / "strange.txt").write_text("zzz yyy xxx\n", encoding="utf-8")
    done = tiny_run.train(options | {f"{part}_text": tmp_path / "strange.txt"}, tmp_path / "run")
    tiny_run.refused(done, 3, f"{part}_text has no token that the vocabulary knows")


@pytest.mark.parametrize("part", ["train", "valid"])
def test_text_of_another_encoding_is_refused(options, tmp_path, part):
    lines = pathlib.Path(options["train_text"]).read_text(encoding="utf-8").splitlines()[:25]
    text = "".join(f"{line}{' größer' if i < 20 else ''}\n" for i, line in enumerate(lines))
    (tmp_path / "latin.txt").write_bytes(text.encode("latin-1"))
    done = tiny_run.train(options | {f"{part}_text": tmp_path / "latin.txt"}, tmp_path / "run")
    name = {"train": "training", "valid": "validation"}[part]
    tiny_run.refused(done, 3, f"20 of 25 lines of the {name} text are malformed UTF-8 ({tmp_path / 'latin.txt'}:1, ", "iconv")


def test_a_model_of_other_stacks_is_refused(options, run, tmp_path):
    other = {name: value for name, value in options.items() if not name.startswith(("vocab", "encoder.", "preset"))}
    done = tiny_run.train(other | {"task": "language_model", "init": run / "model"}, tmp_path / "run")
    tiny_run.refused(done, 3, f"'{run / 'model'}' is of task masked_language_model and has an encoder, which task language_model does not train")
    assert not (tmp_path / "run/checkpoints").exists()


def test_weights_that_do_not_fit_are_named(run, labelled, tmp_path):
    """Of a directory whose config says one thing and whose weights another."""
    model = tmp_path / "model"
    shutil.copytree(run / "model", model)
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    config["model"]["encoder"]["d_ff"] = 48
    (model / "config.json").write_text(json.dumps(config), encoding="utf-8")
    tiny_run.refused(tiny_run.train(labelled | {"init": model}, tmp_path / "run"), 3, "encoder.layers.0.feed_forward.inner.weight")


def test_what_is_hidden_is_an_option(options, tmp_path):
    refused = {**options, "mask_hidden": 0.8, "mask_random": 0.4}
    done = subprocess.run(tiny_run.command_line(refused, tmp_path / "run"), env=tiny_run.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "mask_hidden (0.8) and mask_random (0.4) are more than 1 together" in done.stderr


def test_positions_hold_a_context_with_its_ends(options, tmp_path):
    refused = {**options, "context_tokens": 19}
    done = subprocess.run(tiny_run.command_line(refused, tmp_path / "run"), env=tiny_run.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "context_tokens is 19, but the model's learned positions reach 18 tokens" in done.stderr


def attend(*arguments, text=""):
    command = [str(argument) for argument in [tiny_run.ATTEND, *arguments]]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hidden_words_are_filled_in(run):
    filled = json.loads(attend("fill", "green [MASK] red apple", "--model", run / "model", "--top", 2, "--json"))
    assert filled["filled"] == "green grass red apple"
    assert [len(tokens) for tokens in filled["masks"]] == [2]
    assert filled["masks"][0][0]["token"] == "grass" and 0.5 < filled["masks"][0][0]["probability"] <= 1
    both = attend("fill", "--input", "-", "--model", run / "model", "--top", 1, text="green [MASK]\nyellow [MASK] [MASK] apple\n")
    assert both.splitlines()[0] == "green grass" and both.splitlines()[2] == "yellow sun red apple"
    done = subprocess.run([tiny_run.ATTEND, "fill", "green", "--model", run / "model"], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "a text has no [MASK]" in done.stderr


def test_fill_says_which_line_has_no_mask(run, tmp_path):
    (tmp_path / "texts").write_text("green [MASK]\n" * 3 + "green\n" + "red [MASK]\n", encoding="utf-8")
    command = [tiny_run.ATTEND, "fill", "--input", tmp_path / "texts", "--model", run / "model", "--top", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert f"{tmp_path}/texts:4: a text has no [MASK]" in done.stderr
    assert done.stdout.count("green grass\n") == 3 and "red" not in done.stdout


def test_texts_get_vectors(run, tmp_path):
    numpy = pytest.importorskip("numpy")
    text = "green grass\nred apple\n"
    lines = [json.loads(line) for line in attend("embed", "--model", run / "model", text=text).splitlines()]
    attend("embed", "--model", run / "model", "--output", tmp_path / "v.npy", text=text)
    vectors = numpy.load(tmp_path / "v.npy")
    assert vectors.dtype == numpy.float32 and vectors.shape == (2, 32)
    assert [line["text"] for line in lines] == text.splitlines()
    assert (vectors == numpy.array([line["embedding"] for line in lines], numpy.float32)).all()
    attend("embed", "--model", run / "model", "--normalize", "--output", tmp_path / "n.npy", text=text)
    assert numpy.linalg.norm(numpy.load(tmp_path / "n.npy"), axis=1) == pytest.approx(1, abs=1e-6)
    assert not list(tmp_path.glob("*.partial"))


def test_int8_loses_little(run, tmp_path):
    attend("quantize", run / "model", "--output", tmp_path / "int8")
    attend("verify", tmp_path / "int8")
    probability = [json.loads(attend("fill", "green [MASK]", "--model", model, "--json"))["masks"][0][0]["probability"] for model in (run / "model", tmp_path / "int8")]
    assert probability[0] == pytest.approx(probability[1], abs=0.05)


def test_python_gives_the_same(run):
    package = tiny_run.BUILD / "python"
    if not (package / "attend/_attend.pyi").exists():
        pytest.skip("the Python package is not built")
    code = f"import attend; model = attend.load({str(run / 'model')!r}, threads=1); assert isinstance(model, attend.Encoder); "
    code += "found = model.fill('green [MASK]', top=2); print(found.text, found.masks[0][0].probability); "
    code += "print(model.embed('a').shape, model.embed(['red apple', 'b']).shape, model.width, float(model.embed(['red apple'])[0, 0]))"
    told = subprocess.run([sys.executable, "-c", code], env=tiny_run.environment(PYTHONPATH=package), capture_output=True, text=True, check=True)
    filled = json.loads(attend("fill", "green [MASK]", "--model", run / "model", "--json"))
    first, second = told.stdout.splitlines()
    assert first == f"green grass {filled['masks'][0][0]['probability']}"
    vector = json.loads(attend("embed", "--model", run / "model", text="red apple\n"))["embedding"]
    assert second.startswith("(32,) (2, 32) 32 ") and float(second.split()[-1]) == pytest.approx(vector[0], abs=1e-7)
