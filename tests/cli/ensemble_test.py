"""attend translate with several models, with one that writes from the end, and with a beam's limits."""

import json
import math

import pytest
import random_models
from programs import attend, refused

GOLDEN = random_models.GOLDEN
LINES = ["lumi tavo keri", "paku neri dosa ilvo sane", "lumi", "sane sane keri tavo lumi neri", "dosa paku"]


@pytest.fixture(name="relative", scope="module")
def write_relative(tmp_path_factory):
    return random_models.write_relative(tmp_path_factory.mktemp("models") / "relative", seed=3)


def translations(*arguments):
    done = attend("translate", *arguments, stdin="\n".join(LINES) + "\n")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_one_model_twice_is_that_model(relative):
    for model in (GOLDEN, relative):
        assert translations("--model", model, model, "--scores") == translations("--model", model, "--scores")


def test_results_hang_on_no_thread_batch_or_instruction_set(relative):
    both = ["--model", GOLDEN, relative, "--scores"]
    want = translations(*both)
    assert want != translations("--model", GOLDEN, "--scores")
    assert translations(*both, "--threads", "3", "--batch-sentences", "1") == want
    done = attend("translate", *both, stdin="\n".join(LINES) + "\n", env={"ATTEND_ISA": "reference"})
    assert done.stdout.splitlines() == want
    assert translations("--model", GOLDEN, relative, "--scores", "--model-weights", "1", "0") == translations("--model", GOLDEN, "--scores")


def test_what_does_not_go_together_is_refused(relative, tmp_path):
    refused(attend("translate", "--model", GOLDEN, relative, "--model-weights", "1"), 2, "1 weights for 2 models")
    refused(attend("translate", "--model", GOLDEN, "--model-weights", "1"), 2, "weights of models are for several, and one is given")
    refused(attend("translate", "--model", GOLDEN, relative, "--adapter", "x"), 2, "adapter is for one model")
    refused(attend("translate", "--model", GOLDEN, relative, "--shortlist", "x"), 2, "shortlist")
    refused(attend("translate", "--model", GOLDEN, random_models.reverse_of(GOLDEN, tmp_path / "back")), 2, "model 2", "from su to ka")
    protecting = random_models.write_relative(tmp_path / "protecting", seed=0, target_order="right_to_left")
    refused(attend("translate", "--model", GOLDEN, protecting), 2, "model 2", "right to left", "expected left to right")


def test_an_interrupted_job_knows_its_models(relative, tmp_path):
    lines, both = LINES * 205, ("--model", GOLDEN, relative)
    lines[1024] = "lumi " * 600  # refused, and the lines before it are kept
    (tmp_path / "in").write_text("\n".join(lines) + "\n", encoding="utf-8")
    out, partial = tmp_path / "out", tmp_path / "out.partial"
    job = ["translate", "--input", tmp_path / "in", "--output", out, "--overlong", "refuse", "--max-length", "8", "--quiet"]
    assert attend(*job, *both).returncode == 3
    before = partial.read_bytes()
    assert before.count(b"\n") == 1024
    for models in (("--model", GOLDEN), ("--model", relative, GOLDEN), (*both, "--model-weights", "0.3", "0.7")):
        refused(attend(*job, *models, "--resume"), 2, partial, "was", "remove it")
        assert partial.read_bytes() == before and not out.exists()
    lines[1024] = "lumi"
    (tmp_path / "in").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert attend(*job, *both, "--resume").returncode == 0
    assert out.read_bytes().startswith(before)
    assert out.read_text(encoding="utf-8").splitlines()[:5] == translations(*both, "--max-length", "8")


def test_a_model_that_writes_from_the_end(tmp_path):
    """Of the same weights: it writes the same pieces, and its texts have them the other way round."""
    backwards = random_models.write_relative(tmp_path / "backwards", seed=0, target_order="right_to_left")
    usual, turned = (translations("--model", model) for model in (GOLDEN, backwards))
    assert usual != turned
    assert ["".join(sorted(line.replace(" ", ""))) for line in usual] == ["".join(sorted(line.replace(" ", ""))) for line in turned]
    (tmp_path / "prefixes").write_text("lumi\n" * len(LINES), encoding="utf-8")
    done = attend("translate", "--model", backwards, "--target-prefix", tmp_path / "prefixes", stdin="\n".join(LINES) + "\n")
    assert done.returncode == 2 and "writes from right to left" in done.stderr


def test_limits_of_a_beam_reach_the_search():
    plain = translations("--model", GOLDEN, "--scores")
    assert translations("--model", GOLDEN, "--scores", "--beam-threshold", "1000", "--early-exit", "0") == plain
    greedy = translations("--model", GOLDEN, "--scores", "--beam-size", "1")
    assert translations("--model", GOLDEN, "--scores", "--beam-threshold", "1e-9") == greedy
    refused(attend("translate", "--model", GOLDEN, "--sample", "--early-exit", "2"), 2, "early_exit is for beam search")


def scored(model, *arguments):
    """The scores of a line's outputs, by the line's number and the output."""
    rows = (line.split(" ||| ") for line in translations(
        "--model", model, "--n-best", "4", "--length-penalty", "0", "--max-length", "4", "--quiet", "--scores", *arguments))
    return {(int(line), output): float(score) for line, output, score in rows}


def test_coverage_is_that_of_the_attention_that_is_shown(tmp_path):
    """The mean of the last layer's heads, summed over the output, of the source's tokens without eos. Outputs are cut before eos."""
    model, shown, compared = random_models.write_relative(tmp_path / "model", seed=1), tmp_path / "shown.json", 0
    plain, covered = scored(model), scored(model, "--coverage-penalty", "2")
    for line, output in plain.keys() & covered.keys():
        assert attend("attention", "--model", model, "--source", LINES[line], "--target", output, "--output", shown).returncode == 0
        cross = json.loads(shown.read_text(encoding="utf-8"))["kinds"]["cross"]
        if "\u2581" in cross["queries"]:  # the search wrote other tokens for this text
            continue
        heads = cross["weights"][-1]
        looked = [sum(row[s] for head in heads for row in head[:-1]) / len(heads) for s in range(len(cross["keys"]) - 1)]
        assert covered[line, output] - plain[line, output] == pytest.approx(2 * sum(math.log(min(1, each)) for each in looked), abs=2e-4)
        compared += min(looked) < 1
    assert compared >= 5
