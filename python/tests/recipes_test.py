"""attend distill and attend back-translate on text that trains in seconds: what they make, that they go on, what they refuse."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
import tiny_run
from package import ENVIRONMENT, PROGRAM

import attend  # noqa: I001
from attend.recipes._distill import choose

sacrebleu = pytest.importorskip("sacrebleu", reason="sacrebleu is not installed")
GOLDEN = str(pathlib.Path(__file__).resolve().parents[2] / "tests/data/golden_v1")
FILES = ("train_source", "train_target", "valid_source", "valid_target")


def program(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, encoding="utf-8", check=False, env=ENVIRONMENT)


def toml(value):
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, list) else json.dumps(value if isinstance(value, (int, float)) else str(value))


def write_recipe(path, options):
    path.write_text("".join(f"{name} = {toml(value)}\n" for name, value in options.items()), encoding="utf-8")
    return path


@pytest.fixture(name="work", scope="module")
def train_teachers(tmp_path_factory):
    """A folder with text, two models of opposite directions, and a student's recipe."""
    folder = tmp_path_factory.mktemp("recipes")
    options = tiny_run.prepare(folder) | {"validate_every": 40, "checkpoint_every": 40, "max_updates": 40}
    tiny_run.trained(options, folder / "teacher")
    turned = dict(zip(FILES, (options[name] for name in (FILES[1], FILES[0], FILES[3], FILES[2]))))
    tiny_run.trained(options | turned, folder / "reverse")
    small = options | {"vocab": None, "vocab_size": 60, "vocab_type": "bpe", "decoder.recurrence": "ssru", "max_updates": 6, "validate_every": 6, "checkpoint_every": 3}
    write_recipe(folder / "student.toml", {name: value for name, value in small.items() if value is not None})
    halves = {}
    for name, side in (("train_source", "en"), ("train_target", "de")):
        lines = (folder / f"train.{side}").read_text(encoding="utf-8").splitlines(keepends=True)
        halves[name] = [folder / f"first.{side}", folder / f"second.{side}"]
        for path, half in zip(halves[name], (lines[:100], lines[100:])):
            path.write_text("".join(half), encoding="utf-8")
    guided = small | halves | {"guided_alignment_weight": 0.1, "adam_beta2": 0.97}
    write_recipe(folder / "guided.toml", {name: value for name, value in guided.items() if value is not None})
    for name, more in {
            "long": {"max_updates": 100000, "validate_every": 100000, "checkpoint_every": 100000}, "dropped": {"r_drop": 1}, "lstm": {"preset": "lstm"},
            "prefixed": {"train_prefixes": ["x "]}, "named": {"languages": ["su", "ka"]}, "turned": {"languages": ["ka", "su"]}, "given": {"vocab": folder / "vocab.spm"}}.items():
        write_recipe(folder / f"{name}.toml", {option: value for option, value in (small | more).items() if value is not None})
    assert program("quantize", folder / "teacher/model", "--output", folder / "int8").returncode == 0
    return folder


def test_choose_takes_what_is_most_like_the_reference(tmp_path):
    hypotheses = [["a small dog runs", "a big dog runs home", "dog"], ["one"], ["yes it is", "no ||| it is not"]]
    references = ["a big dog runs", "one two", "no it is not"]
    lines = [f"{number} ||| {text} ||| -1.5\n" for number, texts in enumerate(hypotheses) for text in texts]
    (tmp_path / "n-best").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "references").write_text("".join(line + "\n" for line in references), encoding="utf-8")
    expected = [max(texts, key=lambda text: sacrebleu.sentence_bleu(text, [reference]).score) for texts, reference in zip(hypotheses, references)]
    assert list(choose(tmp_path / "n-best", tmp_path / "references")) == expected
    (tmp_path / "n-best").write_text("".join(lines[:3]), encoding="utf-8")
    with pytest.raises(attend.InputError, match="translations of line 2"):
        list(choose(tmp_path / "n-best", tmp_path / "references"))


def test_distill_makes_a_student_of_what_its_teacher_writes(work, tmp_path):
    recipe = tmp_path / "student.toml"
    recipe.write_bytes((work / "student.toml").read_bytes())
    given = ("distill", "--teacher", work / "teacher/model", "--recipe", recipe, "--output", tmp_path / "student", "--beam-size", 2)
    done = program(*given)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "student/teacher.0").read_text(encoding="utf-8")
    assert written == program("translate", "--model", work / "teacher/model", "--beam-size", 2, "--input", work / "train.en", "--quiet").stdout
    config = json.loads((tmp_path / "student/run/checkpoints/update-0000000006/state.json").read_text(encoding="utf-8"))["run"]["options"]
    assert config["train_target"] == [str(tmp_path / "student/teacher.0")]
    for model in ("run/model", "model-int8"):
        assert program("verify", tmp_path / "student" / model).returncode == 0
    assert program("translate", "--model", tmp_path / "student/model-int8", "--shortlist", tmp_path / "student/shortlist.safetensors", "--input", work / "valid.en").returncode == 0
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "student").rglob("*")}
    again = program(*given)
    assert (again.returncode, again.stderr) == (0, f"all steps are done: {tmp_path / 'student/run/model'}\n")
    assert (program(*given, "--quiet").stderr, done.stderr.splitlines()[-1]) == ("", again.stderr.rstrip("\n"))
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "student").rglob("*")} == before
    other = program(*given, "--length-penalty", 1)
    assert other.returncode == 2 and "step translate 0" in other.stderr and "was made with other options: --length-penalty was 0.6, now 1" in other.stderr
    assert "--teacher" not in other.stderr and "--input" not in other.stderr
    other = program(*given, "--data-dir", tmp_path)
    assert other.returncode == 2 and "was made with other options: data_dir was " in other.stderr
    recipe.write_text(recipe.read_text(encoding="utf-8") + "seed = 9\n", encoding="utf-8")
    other = program(*given)
    assert other.returncode == 2 and "step train of" in other.stderr and f"have changed: {recipe}" in other.stderr
    other = program(*given, "--teacher", work / "reverse/model")
    assert other.returncode == 2


def test_a_changed_text_is_refused(work, tmp_path):
    text = {side: tmp_path / f"text.{side}" for side in ("en", "de")}
    for side, path in text.items():
        path.write_bytes((work / f"train.{side}").read_bytes())
    recipe = tmp_path / "recipe.toml"
    recipe.write_text((work / "student.toml").read_text(encoding="utf-8").replace(f"{work}/train.", f"{tmp_path}/text."), encoding="utf-8")
    given = ("distill", "--teacher", work / "teacher/model", "--recipe", recipe, "--output", tmp_path / "out", "--beam-size", 1)
    done = program(*given)
    assert done.returncode == 0, done.stderr
    text["en"].write_text("one two\n" * 160, encoding="utf-8")
    done = program(*given)
    assert done.returncode == 2 and f"step translate 0 of '{tmp_path / 'out'}' was made of other files" in done.stderr
    assert f"have changed: {text['en']}" in done.stderr


@pytest.mark.parametrize(("command", "more", "changed", "words"), [
    ("distill", [], {"batch_tokenz": 100}, "did you mean 'batch_tokens'"),
    ("distill", [], {"valid_source": ["gone.en"]}, "gone.en"),
    ("distill", ["--word-level"], {"vocab_size": 70}, "vocab_size"),
    ("distill", ["--keep-original"], {"guided_alignment_weight": 0.1, "train_weights": [1, 2, 3]}, "train_weights"),
    ("back-translate", [], {"max_updates": 0}, "max_updates"),
    ("back-translate", [], {"train_weights": [1]}, "train_weights"),
])
def test_what_the_training_would_refuse_is_refused_before_the_translation(work, tmp_path, command, more, changed, words):
    recipe = tmp_path / "recipe.toml"
    kept = [line for line in (work / "student.toml").read_text(encoding="utf-8").splitlines() if line.split(" ")[0] not in changed]
    recipe.write_text("\n".join([*kept, *(f"{name} = {toml(value)}" for name, value in changed.items()), ""]), encoding="utf-8")
    models = ["--teacher", work / "teacher/model"] if command == "distill" else ["--model", work / "reverse/model", "--text", work / "valid.de"]
    given = [command, *models, "--recipe", recipe, "--output", tmp_path / "out", *more]
    done = program(*given)
    assert done.returncode == 1 and "step check ended with status" in done.stderr and words in done.stderr, done.stderr
    assert "mend what it says, then give the same call" in done.stderr and "goes on from there" not in done.stderr
    assert not list((tmp_path / "out").iterdir())
    if changed == {"batch_tokenz": 100}:
        recipe.write_text("\n".join(kept), encoding="utf-8")
        assert program(*given).returncode == 0


def test_all_of_distill_together(work, tmp_path):
    done = program(
        "distill", "--teacher", work / "teacher/model", "--recipe", work / "guided.toml", "--output", tmp_path / "student", "--beam-size", 3, "--n-best", 3,
        "--keep-original", "--word-level", "--int8-updates", 4, "--threads", 1)
    assert done.returncode == 0, done.stderr
    steps = json.loads((tmp_path / "student/steps.json").read_text(encoding="utf-8"))
    assert list(steps) == [
        "translate 0", "choose 0", "translate 1", "choose 1", "align 0", "align 1", "align 2", "align 3", "train", "train int8", "quantize", "shortlist"]
    state = json.loads((tmp_path / "student/int8-run/checkpoints/update-0000000004/state.json").read_text(encoding="utf-8"))
    assert state["run"]["options"]["quantization_aware"] is True and "teacher" in state["run"]["data_digests"]
    before = json.loads((tmp_path / "student/run/checkpoints/update-0000000006/state.json").read_text(encoding="utf-8"))["run"]["options"]
    own = {"max_updates", "schedule", "peak_learning_rate", "warmup_updates", "validate_every", "checkpoint_every", "quantization_aware",
           "average_last", "ema_decay", "vocab"}  # vocab: the first training made it
    assert {name for name, value in state["run"]["options"].items() if before.get(name) != value} == own
    assert before["dropout"] == 0.2 and before["guided_alignment_weight"] == 0.1 and before["adam_beta2"] == 0.97
    assert program("verify", tmp_path / "student/model-int8").returncode == 0
    # Of both files of text.
    for side, names in (("en", (work / "first.en", work / "second.en")), ("de", (tmp_path / "student/teacher.0", tmp_path / "student/teacher.1"))):
        (tmp_path / f"all.{side}").write_bytes(b"".join(name.read_bytes() for name in names))
    assert program("shortlist", "--model", tmp_path / "student/int8-run/model", "--source", tmp_path / "all.en", "--target", tmp_path / "all.de",
                   "--output", tmp_path / "all").returncode == 0
    assert (tmp_path / "all").read_bytes() == (tmp_path / "student/shortlist.safetensors").read_bytes()


def test_a_killed_recipe_goes_on(work, tmp_path):
    def given(output):
        return ["distill", "--teacher", work / "teacher/model", "--recipe", work / "student.toml", "--output", output, "--threads", 1]

    assert program(*given(tmp_path / "unbroken/out")).returncode == 0
    with subprocess.Popen([PROGRAM, *map(str, given(tmp_path / "killed/out"))], env=ENVIRONMENT, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        while not (tmp_path / "killed/out/run/metrics.jsonl").exists():
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    done = program(*given(tmp_path / "killed/out"))
    assert done.returncode == 0, done.stderr
    assert "step translate" not in done.stderr and "step train" in done.stderr
    for name in ("teacher.0", "run/model/model.safetensors", "model-int8/model.safetensors"):
        assert (tmp_path / "killed/out" / name).read_bytes() == (tmp_path / "unbroken/out" / name).read_bytes()


def test_signals_to_the_one_process_end_the_training_too(work, tmp_path):
    output = tmp_path / "out"
    command = ["distill", "--teacher", work / "teacher/model", "--recipe", work / "long.toml", "--output", output, "--threads", 1, "--beam-size", 1]
    newest = ""
    for sent, status in [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130), (signal.SIGTERM, 143)]:
        with subprocess.Popen([PROGRAM, *map(str, command)], env=ENVIRONMENT, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True) as process:
            said = []
            while not (said and said[-1].startswith("update ")):
                said.append(process.stderr.readline())
                assert said[-1], said
            process.send_signal(sent)
            said += process.stderr  # which ends when the training has ended, too
            assert process.wait() == status, said
        assert ("the same call goes on from there" in said[-1]) == (sent != signal.SIGKILL)
        found = max((path.parent.name for path in (output / "run/checkpoints").glob("update-*/state.json")), default="")
        assert (found > newest) == (sent != signal.SIGKILL), said  # a signal that can be taken lets the training write one
        newest = found


def test_back_translation_adds_tagged_pairs(work, tmp_path):
    done = program("back-translate", "--model", work / "reverse/model", "--text", work / "valid.de", "--recipe", work / "student.toml", "--output", tmp_path / "out", "--seed", 3)
    assert done.returncode == 0, done.stderr
    drawn = program("translate", "--model", work / "reverse/model", "--sample", "--seed", 3, "--input", work / "valid.de", "--quiet").stdout
    assert (tmp_path / "out/back.0").read_text(encoding="utf-8") == drawn
    options = json.loads((tmp_path / "out/run/checkpoints/update-0000000006/state.json").read_text(encoding="utf-8"))["run"]["options"]
    assert options["train_source"] == [str(work / "train.en"), str(tmp_path / "out/back.0")]
    assert options["train_target"] == [str(work / "train.de"), str(work / "valid.de")]
    assert options["train_prefixes"] == ["", "<BT> "]
    vocabulary = attend.Vocabulary(str(tmp_path / "out/run/model/vocab.spm"))
    assert "<BT>" in [vocabulary.piece(id) for id in range(len(vocabulary))]


@pytest.mark.parametrize("command, arguments, status, part", [
    ("distill", ["--teacher", "gone", "--recipe", "{F}/student.toml"], 3, "gone/config.json' is missing, expected a model directory"),
    ("back-translate", ["--model", "gone", "--text", "{F}/valid.de", "--recipe", "{F}/student.toml"], 3, "gone/config.json' is missing"),
    ("distill", ["--teacher", "{F}/teacher/model", "--recipe", "{F}/gone.toml"], 3, "gone.toml"),
    ("distill", ["--teacher", "{F}/teacher/model", "--recipe", "{F}/train.en"], 2, "not valid TOML"),
    ("distill", ["--teacher", "{F}/teacher/model", "--recipe", "{F}/student.toml", "--n-best", "9"], 2, "n_best is 9, expected at most beam_size, 5"),
    ("back-translate", ["--model", "{F}/reverse/model", "--text", "{F}/valid.de", "{F}/gone", "--recipe", "{F}/student.toml"], 3, "gone' is missing, expected a file of text"),
    ("back-translate", ["--model", "{F}/reverse/model", "--recipe", "{F}/student.toml"], 2, "--text"),
    ("distill", ["--teacher", GOLDEN, "--recipe", "{F}/named.toml"], 2, "from ka to su; expected one that translates from su to ka"),
    ("back-translate", ["--model", GOLDEN, "--text", "{F}/valid.de", "--recipe", "{F}/turned.toml"], 2, "from ka to su; expected one that translates from su to ka"),
    ("distill", ["--teacher", "{F}/teacher/model", "--recipe", "{F}/prefixed.toml"], 2, "train_prefixes is given"),
    ("distill", ["--teacher", "{F}/int8", "--recipe", "{F}/student.toml", "--word-level"], 2, "has int8 weights"),
    ("distill", ["--teacher", "{F}/teacher/model", "--recipe", "{F}/given.toml", "--word-level"], 2, "has a vocab; leave it out"),
    ("distill", ["--teacher", "{F}/teacher/model", "--recipe", "{F}/dropped.toml", "--word-level"], 2, "word_level and r_drop exclude each other"),
    ("distill", ["--teacher", "{F}/teacher/model", "--recipe", "{F}/lstm.toml", "--int8-updates", "5"], 2, "is of another architecture"),
    ("back-translate", ["--model", "{F}/reverse/model", "--text", "{F}/valid.de", "--recipe", "{F}/prefixed.toml"], 2, "train_prefixes is given"),
    ("back-translate", ["--model", "{F}/reverse/model", "--text", "{F}/valid.de", "--recipe", "{F}/guided.toml"], 2, "no links between words"),
    ("back-translate", ["--model", "{F}/reverse/model", "--text", "{F}/valid.de", "--recipe", "{F}/student.toml", "--beam-size", "8"], 2, "beam_size is of a search"),
    ("back-translate", ["--model", "{F}/reverse/model", "--text", "{F}/valid.de", "--recipe", "{F}/student.toml", "--sample=false", "--top-k", "5"], 2, "top_k is of drawing"),
])
def test_what_is_missing_is_named(command, arguments, status, part, work, tmp_path):
    done = program(command, *[word.format(F=work) for word in arguments], "--output", tmp_path / "out")
    assert done.returncode == status and part in done.stderr, done.stderr
    assert "step check" not in done.stderr
