"""Training of tagging and classification, from labelled text to `attend tag` and `attend classify`: both learn, resume to the bit,
prove themselves and say what is wrong with their text."""

import json
import random
import subprocess
import sys

import data_parallel_test
import pytest
import tiny_run

NAMES = {"PER": ["Anna Lee", "Bob", "Carl May", "Dora"], "LOC": ["Oslo", "New York", "Rome"]}
SHAPES = ["{PER} lives in {LOC} .", "in {LOC} {PER} sleeps", "{PER} , {PER} and {PER} see {LOC} {LOC}", "nobody is here ."]
COMMON = {
    "preset": "tiny",
    "vocab_type": "word",
    "vocab_size": 60,
    "encoder.layers": 2,
    "encoder.d_model": 32,
    "encoder.heads": 4,
    "encoder.d_ff": 64,
    "dropout": 0.1,
    "label_smoothing": 0,
    "batch_tokens": 256,
    "worker_threads": 2,
    "threads": 2,
    "schedule": "cosine",
    "peak_learning_rate": 0.01,
    "warmup_updates": 10,
    "max_updates": 180,
    "validate_every": 60,
    "checkpoint_every": 60,
    "report_every": 10,
    "average_last": 1,
}


def labelled_sentence(numbers):
    """[(word, label)], IOB1."""
    pairs, before = [], None
    for part in numbers.choice(SHAPES).split():
        kind = part[1:-1] if part.startswith("{") else None
        for place, word in enumerate((numbers.choice(NAMES[kind]) if kind else part).split()):
            prefix = "B" if place == 0 and before == kind else "I"
            pairs.append((word, f"{prefix}-{kind}" if kind else "O"))
        before = kind
    return pairs


def write_columns(path, seed, sentences):
    numbers = random.Random(seed)
    text = "-DOCSTART- O\n\n"
    for _ in range(sentences):
        text += "".join(f"{word} {label}\n" for word, label in labelled_sentence(numbers)) + "\n"
    path.write_text(text, encoding="utf-8")


def write_table(path, seed, lines):
    numbers = random.Random(seed)
    words = {"low": "a b c d both".split(), "high": "w x y z both".split(), "mid": "m n o p both".split()}
    text = ""
    for _ in range(lines):
        label = numbers.choice(sorted(words))
        text += label + "\t" + " ".join(numbers.choices(words[label], k=numbers.randint(3, 6))) + "\n"
    path.write_text(text, encoding="utf-8")


def make_options(task, folder):
    kind, write = ("table", write_table) if task == "classification" else ("columns", write_columns)
    options = COMMON | ({"task": "tagging", "crf": []} if task == "tagging-crf" else {"task": task})
    for number, (part, count) in enumerate([("train", 300), ("valid", 40), ("test", 40)]):
        write(folder / f"{part}.{kind}", number + 1, count)
        options[f"{part}_{kind}"] = folder / f"{part}.{kind}"
    return options


@pytest.fixture(name="options", scope="module", params=["tagging", "tagging-crf", "classification"])
def prepared(request, tmp_path_factory):
    return make_options(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(name="run", scope="module")
def trained_run(options, tmp_path_factory):
    output = tmp_path_factory.mktemp("run") / "run"
    tiny_run.trained(options, output)
    return output


@pytest.fixture(name="tagging", scope="module")
def tagging_options(tmp_path_factory):
    return make_options("tagging", tmp_path_factory.mktemp("tagging_alone"))


@pytest.fixture(name="tagger", scope="module")
def tagging_run(tagging, tmp_path_factory):
    output = tmp_path_factory.mktemp("run") / "crf"
    tiny_run.trained(tagging | {"crf": [], "scheme": "iobes"}, output)
    return output / "model"


def attend(*arguments, text="", error=None):
    command = [str(argument) for argument in [tiny_run.ATTEND, *arguments]]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if error is not None:
        assert done.returncode != 0
        assert error in done.stderr, done.stderr
        return ""
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_learns(options, run):
    validations = [line["validation"] for line in tiny_run.metrics(run) if "validation" in line]
    assert len(validations) == 3
    assert validations[-1]["loss"] < validations[0]["loss"]
    scores = json.loads((run / "result.json").read_text(encoding="utf-8"))
    assert scores["f1" if options["task"] == "tagging" else "macro_f1"] > 95
    assert "Sample" in (run / "report.html").read_text(encoding="utf-8")


def test_the_model_proves_itself(run, tmp_path):
    attend("verify", run / "model")
    attend("quantize", run / "model", "--output", tmp_path / "int8")
    attend("verify", tmp_path / "int8")


def test_a_killed_run_ends_in_the_same_bits(options, run, tmp_path):
    tiny_run.trained_though_killed(options, tmp_path / "run", updates=65)
    tiny_run.assert_same(tmp_path / "run", run)


def test_it_is_planned_and_exported_by_hand(options, run, tmp_path):
    plan = json.loads(tiny_run.trained(options | {"dry_run": [], "json": [], "quiet": None}, tmp_path / "dry").stdout)
    assert plan["parameters"] > 0 and not (tmp_path / "dry").exists()
    attend("export", "--checkpoint", run, "--output", tmp_path / "model")
    attend("verify", tmp_path / "model")
    assert json.loads(attend("inspect", tmp_path / "model", "--json"))["model"] == json.loads(attend("inspect", run / "model", "--json"))["model"]


def test_two_processes_train_as_one(options, tmp_path):
    few = options | {"max_updates": 20, "validate_every": 10, "threads": 1, "accumulate": 3}
    tiny_run.trained(few, tmp_path / "one")
    data_parallel_test.trained(few, tmp_path / "two")
    data_parallel_test.assert_close(tmp_path / "two", tmp_path / "one")
    assert data_parallel_test.values(tmp_path / "two", "accuracy") == pytest.approx(data_parallel_test.values(tmp_path / "one", "accuracy"), abs=1)


def test_bf16_learns_as_f32(options, run, tmp_path):
    def losses(output):
        return [line["loss"] for line in tiny_run.metrics(output) if "loss" in line]

    tiny_run.trained(options | {"precision": "bf16"}, tmp_path / "run")
    exact, rounded = losses(run), losses(tmp_path / "run")
    assert rounded != exact
    assert rounded[:10] == pytest.approx(exact[:10], rel=0.02)
    assert sum(rounded[-20:]) == pytest.approx(sum(exact[-20:]), rel=0.2, abs=0.2)
    scores = json.loads((tmp_path / "run/result.json").read_text(encoding="utf-8"))
    assert scores["accuracy"] > 95


@pytest.mark.parametrize(("option", "error"), [("head_bias", "labels always have a bias"), ("tie_target_output=false", "labels have weights of their own")])
def test_options_of_another_head_are_refused(options, tmp_path, option, error):
    tiny_run.refused(tiny_run.train(options | {option: []}, tmp_path / "run"), 2, error, "leave it out")


def test_scores_are_those_of_what_was_kept(options, run, tmp_path):
    rows = [line.split("\t") for line in (run / "test_output.txt").read_text(encoding="utf-8").splitlines()]
    scores = json.loads((run / "result.json").read_text(encoding="utf-8"))
    if options["task"] == "classification":
        right = sum(row[0] == row[1] for row in rows)
        assert scores["accuracy"] == pytest.approx(100 * right / len(rows))
        assert sum(map(sum, scores["confusion"])) == len(rows)
        return
    for name, column in [("reference", 1), ("hypothesis", 2)]:
        text = "".join(f"{row[0]} {row[column]}\n" if len(row) == 3 else "\n" for row in rows)
        (tmp_path / name).write_text(text, encoding="utf-8")
    told = attend("evaluate", "--hypothesis", tmp_path / "hypothesis", "--reference", tmp_path / "reference", "--metrics", "entity", "--json")
    assert json.loads(told)["entity"]["f1"] == pytest.approx(scores["f1"], abs=0.01)


def test_tag_tells_where_entities_stand(tagger):
    told = json.loads(attend("tag", "--model", tagger, "--words", text="Anna Lee lives in New York.\n"))
    found = [(part["text"], part["label"], part["begin"], part["end"]) for part in told["entities"]]
    assert found == [("Anna Lee", "PER", 0, 8), ("New York", "LOC", 18, 26)]
    assert all(0.5 < part["probability"] <= 1 for part in told["entities"])
    assert [part["label"] for part in told["words"]] == ["B-PER", "E-PER", "O", "O", "B-LOC", "E-LOC", "O"]
    assert json.loads(attend("tag", "--model", tagger, text="\n")) == {"text": "", "entities": []}


def test_tag_keeps_columns_and_adds_one(tagger, tagging):
    text = tagging["test_columns"].read_text(encoding="utf-8")
    told = attend("tag", "--model", tagger, "--columns", tagging["test_columns"])
    kept = [line.rsplit(" ", 1)[0] if line else "" for line in told.splitlines()]
    assert kept == text.splitlines()
    labels = [line.rsplit(" ", 1)[1] for line in told.splitlines() if line]
    assert labels[0] == "O"
    assert {label[0] for label in labels} == set("BIES") | {"O"} or {label[0] for label in labels} == set("BESO")
    assert attend("tag", "--model", tagger, "--columns", "--threads", "1", text=text) == told


def test_classify_tells_probabilities(tmp_path):
    folder = tmp_path / "text"
    folder.mkdir()
    options = make_options("classification", folder)
    tiny_run.trained(options | {"pooling": "first", "head_pooler": []}, tmp_path / "run")
    model = tmp_path / "run/model"
    label, probability = attend("classify", "--model", model, text="w x y z\n").split()
    assert label == "high"
    told = json.loads(attend("classify", "--model", model, "--top", "9", "--json", text="w x y z\n"))
    assert [each["label"] for each in told["classes"]][0] == "high"
    assert sum(each["probability"] for each in told["classes"]) == pytest.approx(1)
    assert told["classes"][0]["probability"] == pytest.approx(float(probability), abs=1e-4)
    attend("tag", "--model", model, error="run it with `attend classify`")


def test_a_model_of_the_same_labels_is_fine_tuned(tagger, tagging, tmp_path):
    options = {name: value for name, value in tagging.items() if not name.startswith(("vocab", "encoder.", "preset"))}
    tiny_run.trained(options | {"init": tagger, "max_updates": 4}, tmp_path / "run")
    config = json.loads((tmp_path / "run/model/config.json").read_text(encoding="utf-8"))["model"]
    assert config["label_scheme"] == "iobes"
    assert config["crf"] is True
    smoothed = options | {"init": tagger, "label_smoothing": 0.1}
    tiny_run.refused(tiny_run.train(smoothed, tmp_path / "smoothed"), 2, "label_smoothing is for labels by themselves, but crf is on")
    tiny_run.trained({"config": tmp_path / "run/config.toml", "max_updates": 6}, tmp_path / "run")


def test_a_classifier_that_is_fine_tuned_goes_on_by_its_own_options(tmp_path):
    options = make_options("classification", tmp_path) | {"max_updates": 2, "validate_every": 2}
    tiny_run.trained(options | {"pooling": "first", "head_pooler": []}, tmp_path / "first")
    rest = {name: value for name, value in options.items() if not name.startswith(("vocab", "encoder.", "preset"))}
    tiny_run.trained(rest | {"init": tmp_path / "first/model"}, tmp_path / "run")
    tiny_run.trained({"config": tmp_path / "run/config.toml", "max_updates": 4}, tmp_path / "run")
    config = json.loads((tmp_path / "run/model/config.json").read_text(encoding="utf-8"))["model"]
    assert (config["pooling"], config["head_pooler"]) == ("first", True)


def test_what_pictures_are_validated_on_is_told(tmp_path):
    options = tiny_run.of_pictures(COMMON, tmp_path) | {"valid_pictures": None, "average_best": 1}
    tiny_run.refused(tiny_run.train(options, tmp_path / "run"), 2, "need valid_table, valid_pictures or valid_count")


def test_a_model_of_pictures_goes_on_with_the_recipe_that_made_it(tmp_path):
    """Its learned positions are those of its own patches, not the preset's."""
    common = COMMON | {"max_updates": 2, "validate_every": 2, "checkpoint_every": 2}
    options = tiny_run.of_pictures(common, tmp_path) | {"patches.patch": 4}
    tiny_run.trained(options, tmp_path / "run")
    model = tmp_path / "run/model"
    assert json.loads((model / "config.json").read_text(encoding="utf-8"))["model"]["encoder"]["max_positions"] == 5
    tiny_run.trained(options | {"init": model}, tmp_path / "same")
    tiny_run.trained(options | {"init": model, "preset": None}, tmp_path / "without_preset")
    shape = ("encoder.", "patches.", "preset")
    rest = {name: value for name, value in options.items() if not name.startswith(shape)} | {"init": model}
    tiny_run.trained(rest, tmp_path / "without_shape")
    tiny_run.trained({"config": tmp_path / "without_shape/config.toml", "max_updates": 4}, tmp_path / "without_shape")
    tiny_run.refused(tiny_run.train(options | {"init": model, "encoder.max_positions": 50}, tmp_path / "other"), 2,
                     "encoder.max_positions is 50", "has 5; leave it out")
    text = make_options("classification", tmp_path) | {"preset": None, "vocab_type": None, "vocab_size": None, "init": model}
    text = {name: value for name, value in text.items() if not name.startswith("encoder.")}
    tiny_run.refused(tiny_run.train(text, tmp_path / "text"), 3, "reads pictures, expected one that reads text")


def test_a_model_of_pictures_learns_other_labels(tmp_path):
    """A new head on the encoder that there is, which so small a rate leaves as it is."""
    numpy, files = pytest.importorskip("numpy"), pytest.importorskip("safetensors.numpy")
    common = COMMON | {"max_updates": 2, "validate_every": 2, "checkpoint_every": 2}
    options = tiny_run.of_pictures(common, tmp_path)
    tiny_run.trained(options, tmp_path / "run")
    (tmp_path / "items").mkdir()
    tiny_run.write_items(tmp_path / "items", "more", 30, 3)
    table = tmp_path / "items/pictures.tsv"
    table.write_text("".join(f"more/{i}.png\t{('cat', 'dog', 'owl')[i % 3]}\n" for i in range(30)), encoding="utf-8")
    tuning = options | {"quiet": None, "report_every": 1, "init": tmp_path / "run/model", "train_pictures": table, "valid_pictures": table, "peak_learning_rate": 1e-9}
    told = tiny_run.trained(tuning, tmp_path / "tuned").stderr
    assert "the label 'cat' is not one of the 2 that are known" in told and "a new one is trained for 3 labels" in told
    assert " examples/s " in told
    config = json.loads((tmp_path / "tuned/model/config.json").read_text(encoding="utf-8"))["model"]
    assert config["labels"] == ["cat", "dog", "owl"]
    before, after = (files.load_file(tmp_path / name / "model/model.safetensors") for name in ("run", "tuned"))
    for name, tensor in before.items():
        assert name.startswith("head.") or numpy.allclose(tensor, after[name], atol=1e-6), name
    assert after["head.weight"].shape == (3, 16)
    tiny_run.trained(tuning | {"max_updates": 4}, tmp_path / "tuned")
    tiny_run.trained(tuning | {"adapter.rank": 2}, tmp_path / "adapted")
    # Beside labels that the model knows, another one may be a typing error.
    some = tmp_path / "items/some.tsv"
    some.write_text(table.read_text(encoding="utf-8").replace("owl", "own"), encoding="utf-8")
    again = tuning | {"init": tmp_path / "tuned/model", "train_pictures": some}
    tiny_run.refused(tiny_run.train(again, tmp_path / "again"), 3, "the label 'own'", "give label_names to train a new head")
    named = tuning | {"train_pictures": options["train_pictures"], "valid_pictures": None, "label_names": ["row", "column"]}
    assert "label_names are given" in tiny_run.trained(named, tmp_path / "named").stderr


def test_long_texts_have_samples_too(tmp_path):
    options = make_options("classification", tmp_path) | {"max_updates": 2, "validate_every": 2}
    for part in ("train", "valid", "test"):
        path = options[f"{part}_table"]
        lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        path.write_text("".join(f"{label}\t{' '.join([text] * 50)}\n" for label, text in lines), encoding="utf-8")
    tiny_run.trained(options, tmp_path / "run")
    assert len(json.loads((tmp_path / "run/model/samples.json").read_text(encoding="utf-8"))) == 8
    attend("verify", tmp_path / "run/model")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("(S (NP Anna) (VP sleeps))\n", "a bracketed tree, expected columns"),
        ("Anna I-PER\nsleeps O\nAnna I-ORG\n", "wrong:3)"),
        ("Anna I-ORG\n", "1 label that the model does not know: 'I-ORG'"),
        ("food\tfresh bread\n", "a table of texts, expected columns"),
        ("Anna\nsleeps\n", "words and labels are both in column 1"),
        ("Anna O\nsleeps\n", "1 column, expected 2 as in the lines before: a word a line"),
    ],
)
def test_wrong_text_is_refused(tagging, tmp_path, text, error):
    (tmp_path / "wrong").write_text(text, encoding="utf-8")
    command = tiny_run.command_line(tagging | {"valid_columns": tmp_path / "wrong", "scheme": "iob1"}, tmp_path / "run")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert error in done.stderr, done.stderr


def test_inspect_tells_the_labels(run):
    assert "labels of" in attend("inspect", run / "model")


def test_python_gives_the_same(tagger, run, options):
    package = tiny_run.BUILD / "python"
    if not (package / "attend/_attend.pyi").exists():
        pytest.skip("the Python package is not built")
    text = "Anna Lee lives in New York."
    code = f"import attend, json; model = attend.load({str(tagger)!r}, threads=1); assert isinstance(model, attend.Tagger); "
    code += f"print(json.dumps([part._asdict() for part in model.tag([{text!r}])[0].entities]))"
    told = subprocess.run([sys.executable, "-c", code], env=tiny_run.environment(PYTHONPATH=package), capture_output=True, text=True, check=True)
    expected = json.loads(attend("tag", "--model", tagger, text=text + "\n"))["entities"]
    assert json.loads(told.stdout) == expected
    if options["task"] == "classification":
        code = f"import attend; print(attend.Classifier({str(run / 'model')!r}).classify('w x y z').label)"
        told = subprocess.run([sys.executable, "-c", code], env=tiny_run.environment(PYTHONPATH=package), capture_output=True, text=True, check=True)
        assert told.stdout == "high\n"
