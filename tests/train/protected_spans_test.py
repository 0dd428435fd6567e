"""Training with protected spans: what a run records, that it goes on exactly, and that its model copies every span."""

import json
import pathlib
import signal
import subprocess
import sys

import pytest
import tiny_run

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "http"))
from server import serving  # noqa: E402

TEXT = [
    "one two https://example.com/a?b=1 three .",
    "four report_v2.final.pdf and 1,234.56 five",
    "{name} six %s ${y} {{z}} seven `a b c`",
    "<b> eight </b> a@b.org -5 50% 12:30",
    "⟦3⟧ nine ⟦40⟧ ten 3",
    "one 1 two 2 three 3 four 4 five 5",
    "AB-12 six",
]


def protected(options, folder):
    """The text with a number in each second line, the first of them another one on the other side."""
    for side in ("train_source", "train_target"):
        lines = options[side].read_text(encoding="utf-8").splitlines()
        for i in range(0, len(lines), 2):
            lines[i] += f" {i}" if i > 0 or side == "train_source" else " none"
        (folder / side).write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = {name: value for name, value in options.items() if name != "vocab"}
    files = {side: folder / side for side in ("train_source", "train_target")}
    protect = {"protect": "all", "protect_patterns": "AB-[0-9]+", "protect_examples": 0.5}
    return made | files | protect | {"vocab_size": 110, "vocab_type": "bpe", "max_updates": 40, "validate_every": 20, "checkpoint_every": 5}


@pytest.fixture(name="run", scope="module")
def train_one(options, tmp_path_factory):
    folder = tmp_path_factory.mktemp("protected")
    options = protected(options, folder)
    done = tiny_run.trained(options | {"quiet": None}, folder / "run")
    return options, folder / "run", done.stderr


def translate(model, *options):
    return subprocess.run(
        [tiny_run.ATTEND, "translate", "--model", model / "model", *options], input="".join(line + "\n" for line in TEXT), text=True,
        capture_output=True, check=True, env=tiny_run.environment())


def test_counts_stand_before_training(run):
    assert "79 protected spans, 1 more of the source" in run[2], run[2]


def test_the_model_says_what_it_protects(run):
    config = json.loads((run[1] / "model" / "config.json").read_text(encoding="utf-8"))
    assert config["tokenization"]["protect"] == ["all"]
    assert config["tokenization"]["protect_patterns"] == ["AB-[0-9]+"]


@pytest.mark.parametrize("beam", ["1", "4"])
def test_every_span_is_copied_whatever_the_model_learned(run, beam):
    done = translate(run[1], "--beam-size", beam)
    outputs = done.stdout.splitlines()
    spans = [["https://example.com/a?b=1"], ["report_v2.final.pdf", "1,234.56"], ["{name}", "%s", "${y}", "{{z}}", "`a b c`"],
             ["<b>", "</b>", "a@b.org", "-5", "50%", "12:30"], ["⟦3⟧", "⟦40⟧"], ["1", "2", "3", "4", "5"], ["AB-12"]]
    for output, expected in zip(outputs, spans, strict=True):
        assert [output.count(span) for span in expected] == [1] * len(expected), output
        assert output.count("⟦") == sum(span.startswith("⟦") for span in expected), output
    assert "protected spans: 23, of which 23 are kept" in done.stderr, done.stderr


def test_switched_off_spans_are_text(run):
    done = translate(run[1], "--protect=false")
    assert "protected spans" not in done.stderr and "https://example.com/a?b=1" not in done.stdout


def test_a_request_may_switch_them_off(run, tmp_path):
    expected = {on: translate(run[1], f"--protect={on}", "--split-sentences=never").stdout.splitlines() for on in ("true", "false")}
    assert all(a != b for a, b in zip(expected["true"], expected["false"]))
    with serving(tmp_path, model=run[1] / "model") as server:
        for options, outputs in (({}, expected["true"]), ({"protect": True}, expected["true"]), ({"protect": False}, expected["false"])):
            found = server.translate(TEXT, split_sentences="never", **options)
            assert [one["text"] for one in found] == outputs, options
            spans = sum(one["sentences"][0]["hypotheses"][0]["protected_spans"] for one in found)
            assert spans == (23 if outputs is expected["true"] else 0)
    with serving(tmp_path, "--protect=false", model=run[1] / "model") as server:
        assert [one["text"] for one in server.translate(TEXT, split_sentences="never")] == expected["false"]
        status, answer = server.post("/v1/translate", {"text": TEXT, "protect": True})
        assert status == 400 and "--protect=false" in answer["error"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_killed_run_goes_on_to_the_same_bytes(run, tmp_path, stream):
    options = run[0] | ({"stream": [], "shuffle_buffer": 37} if stream else {})
    tiny_run.trained(options, tmp_path / "unbroken")
    with subprocess.Popen(tiny_run.command_line(options | {"max_updates": 40}, tmp_path / "run"), env=tiny_run.environment(),
                          stderr=subprocess.PIPE) as process:
        tiny_run.wait_for_updates(tmp_path / "run", [process], 12)
        process.send_signal(signal.SIGKILL)
    tiny_run.trained(options, tmp_path / "run")
    tiny_run.assert_same(tmp_path / "run", tmp_path / "unbroken")


def test_other_spans_are_another_run(run, tmp_path):
    subprocess.run(["cp", "-r", run[1], tmp_path / "run"], check=True)
    tiny_run.refused(tiny_run.train(run[0] | {"protect": "number"}, tmp_path / "run"), 2, "protect was")


def test_what_can_not_be_protected_is_said(options, tmp_path):
    tiny_run.refused(tiny_run.train(options | {"protect": "all"}, tmp_path / "a"), 2, "attend vocab --placeholders")
    tiny_run.refused(tiny_run.train(options | {"protect": "urls"}, tmp_path / "b"), 2, "did you mean 'url'")
    tiny_run.refused(tiny_run.train(options | {"protect_patterns": "("}, tmp_path / "c"), 2, "regular expression")
