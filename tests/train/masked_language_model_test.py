"""Training a masked language model: it learns what words follow from, resumes to the bit, and its model proves itself."""

import json
import math
import random
import signal
import subprocess
import sys
import time

import pytest
import tiny_run

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
    output = tmp_path / "run"
    for _ in range(2):
        process = subprocess.Popen(tiny_run.command_line(options, output), env=tiny_run.environment(), stderr=subprocess.DEVNULL)
        tiny_run.wait_for_updates(output, [process], 9)
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(0.05)
    tiny_run.trained(options, output)
    tiny_run.assert_same(output, run)


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
    code += "found = model.fill('green [MASK]', top=2); print(found.text, found.masks[0][0][1]); "
    code += "print(model.embed('a').shape, model.embed(['red apple', 'b']).shape, model.width, float(model.embed(['red apple'])[0, 0]))"
    told = subprocess.run([sys.executable, "-c", code], env=tiny_run.environment(PYTHONPATH=package), capture_output=True, text=True, check=True)
    filled = json.loads(attend("fill", "green [MASK]", "--model", run / "model", "--json"))
    first, second = told.stdout.splitlines()
    assert first == f"green grass {filled['masks'][0][0]['probability']}"
    vector = json.loads(attend("embed", "--model", run / "model", text="red apple\n"))["embedding"]
    assert tiny_run.run_page_block("my-encoder", {"my-encoder": run}).startswith("(")
    assert second.startswith("(32,) (2, 32) 32 ") and float(second.split()[-1]) == pytest.approx(vector[0], abs=1e-7)
