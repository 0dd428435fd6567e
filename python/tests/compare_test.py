"""attend compare: what it reads of runs, what it says of them, and its page."""

import html.parser
import json
import re
import shutil
import subprocess
import sys
import types

import pytest
import tiny_run
from package import ENVIRONMENT, PROGRAM

import attend  # noqa: I001
from attend import _report, _trained_run
from attend.compare import _comparison, _curves, _significance, compare

METRICS = {"bleu", "chrf", "chrf++", "ter", "exact_match"}


def program(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, encoding="utf-8", check=False, env=ENVIRONMENT)


@pytest.fixture(name="runs", scope="module")
def two_runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    options = tiny_run.prepare(folder)
    tiny_run.write_corpus(folder, seed=9, lines=20, prefix="test")
    options |= {"test_source": folder / "test.en", "test_target": folder / "test.de", "max_updates": 24, "report_every": 4}
    tiny_run.trained(options, folder / "a/run")
    tiny_run.trained(options | {"peak_learning_rate": 0.03, "seed": 2}, folder / "b/run")
    return folder / "a/run", folder / "b/run"


@pytest.fixture(name="report", scope="module")
def compared(runs):
    return compare(runs, plots=False)


def test_figures_are_those_of_the_runs_files(runs, report):
    assert list(report.data["runs"]) == ["a/run", "b/run"] and report.data["baseline"] == "a/run"
    for run, said in zip(runs, report.data["runs"].values(), strict=True):
        lines = tiny_run.metrics(run)
        validations = [(line["update"], line["validation"]) for line in lines if "validation" in line]
        assert said["finished"] and said["updates"] == 24
        assert said["best"]["loss"]["value"] == min(figures["loss"] for _, figures in validations)
        assert said["best"]["bleu"]["value"] == max(figures["bleu"] for _, figures in validations)
        assert said["curves"]["bleu"] == [(update, figures["bleu"]) for update, figures in validations]
        assert said["curves"]["training_loss"] == [(line["update"], line["loss"]) for line in lines if "loss" in line]
        result = json.loads((run / "result.json").read_text(encoding="utf-8"))
        assert said["test"]["bleu"] == result["bleu"]["score"] and said["test"]["cut"] == result["cut"]
        timing = [json.loads(line) for line in (run / "timing.jsonl").read_text(encoding="utf-8").splitlines()]
        assert said["seconds"] == pytest.approx(sum(line["seconds"] for line in timing))


def test_options_that_differ_are_all_that_do(report):
    assert report.data["options"] == {"peak_learning_rate": {"a/run": 0.01, "b/run": 0.03}, "seed": {"a/run": 1, "b/run": 2}}


def test_significance_is_what_evaluate_says(runs, report):
    found = report.data["significance"]["b/run"]
    assert set(found) == METRICS
    done = program("evaluate", "--hypothesis", runs[1] / "test_output.txt", "--baseline", runs[0] / "test_output.txt", "--reference",
                   runs[0].parents[1] / "test.de", "--metrics", ",".join(METRICS), "--json", "--quiet", "--width", 4)
    expected = json.loads(done.stdout)
    for score in expected.values():
        if score["score"] == score["baseline"]["score"]:
            score["p_value"] = None
    assert found == expected and any(score["p_value"] is not None for score in found.values())
    assert found["bleu"]["score"] == pytest.approx(report.data["runs"]["b/run"]["test"]["bleu"], abs=0.005)


def test_the_command_writes_text_json_and_a_page_of_one_file(runs, report, tmp_path):
    done = program("compare", *runs)
    assert done.stdout == report.plain() and done.stderr == ""
    assert re.search(r"^test BLEU +\S+ +\S+$", done.stdout, flags=re.M) and "`peak_learning_rate`  0.01   0.03" in done.stdout
    pytest.importorskip("matplotlib")
    page = tmp_path / "compare.html"
    done = program("compare", *runs, "--json", "--output", page, "--quiet", "--seed", 7, "--bootstrap-samples", 50)
    assert done.returncode == 0 and done.stderr == ""
    assert json.loads(done.stdout)["bootstrap_samples"] == 50 and "seed 7" in page.read_text(encoding="utf-8")
    tags = []
    parser = html.parser.HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append((tag, dict(attributes)))
    parser.feed(page.read_text(encoding="utf-8"))
    # Training loss, validation loss, BLEU and chrF, each over updates, tokens and time.
    assert sum(tag == "svg" for tag, _ in tags) == 12
    assert not [tag for tag, attributes in tags if tag in ("link", "script", "img") or attributes.get("src")]


def test_what_is_no_run_is_named(runs, tmp_path):
    (tmp_path / "empty").mkdir()
    early = tmp_path / "early"
    early.mkdir()
    (early / "metrics.jsonl").touch()
    for given, message in [
        ([runs[0]], "1 runs are given"), ([runs[0], runs[0] / "../run"], "each once"), ([runs[0], tmp_path / "empty"], r"has no metrics\.jsonl"),
        ([runs[0], early], r"has no report\.html yet"), ([runs[0], tmp_path / "nowhere"], "nowhere"),
    ]:
        with pytest.raises(attend.Error, match=message):
            compare(given)
    done = program("compare", runs[0], early)
    assert (done.returncode, done.stdout) == (3, "") and done.stderr.startswith("attend compare: ") and done.stderr.count("\n") == 1
    (early / "report.html").write_bytes(b"<script id=\"data\" type=\"application/json\">{\xff</script>")
    with pytest.raises(attend.InputError, match="holds no data of a run"):
        compare([runs[0], early])


def test_a_run_at_work_is_compared_up_to_its_last_whole_line(runs, tmp_path):
    work = tmp_path / "work"
    shutil.copytree(runs[0], work, ignore=shutil.ignore_patterns("model", "result.json", "test_output.txt"))
    text = (work / "metrics.jsonl").read_bytes()
    (work / "metrics.jsonl").write_bytes(text[:-20])
    report = compare([runs[1], work], plots=False)
    assert "Not over yet: work." in report.plain() and report.data["runs"]["work"]["updates"] == 24
    assert report.data["significance"]["work"] == {"why_not": "it kept no output of a test"}
    assert "work is not compared: it kept no output of a test." in report.plain()
    (work / "vocab.spm").write_bytes(b"another")
    assert "The vocabularies differ" in compare([runs[1], work], plots=False).plain()


def test_another_test_text_is_not_compared(runs, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(runs[1], other)
    lines = (other / "test_output.txt").read_text(encoding="utf-8").splitlines()
    (other / "test_output.txt").write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")
    assert "has 19 lines and its reference 20" in compare([runs[0], other], plots=False).data["significance"]["other"]["why_not"]
    (other / "test_output.txt").unlink()
    assert compare([other, runs[0]], plots=False).data["significance"]["run"]["why_not"].startswith("of the first run: ")


def test_scores_that_only_one_run_has_are_not_compared():
    first, other = (_significance.Tested(["lumi"], ["lumi"], (name,)) for name in ("bleu", "ter"))
    assert _significance.against(first, other, 10, 1) == "its test has no score in common with the first run's"


def test_matplotlib_is_named_where_it_is_missing(runs, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match="a plot needs the package matplotlib: pip install matplotlib"):
        compare(runs)


def run_of(task, folder, test=types.MappingProxyType({})):
    return _trained_run.TrainedRun(folder, task, {}, {}, {}, 0, 0, [], [], [], [], [], [], test)


def test_outputs_of_other_tasks_become_lines(tmp_path):
    output = tmp_path / "test_output.txt"
    output.write_text("a\tO\tO\nb\tB-X\tO\n\nc\tO\tO\n\n", encoding="utf-8")
    tagged = _significance.tested(run_of("tagging", tmp_path))
    assert (tagged.outputs, tagged.references) == (["O O", "O"], ["O B-X", "O"])
    output.write_text("right\twrong\ta text\nno\tno\tanother\n", encoding="utf-8")
    classified = _significance.tested(run_of("classification", tmp_path))
    assert (classified.outputs, classified.references) == (["wrong", "no"], ["right", "no"])
    found = _significance.against(classified, classified, 20, 1)["exact_match"]
    assert found["score"] == 50 and found["p_value"] is None
    output.write_text("one\n", encoding="utf-8")
    (tmp_path / "test_reference.txt").write_text("One\n", encoding="utf-8")
    scores = {"wer": {"score": 0, "signature": "nrefs:1|case:lc"}, "cer": {"score": 0, "signature": "nrefs:1|case:lc"}, "recordings": 1}
    spoken = _significance.tested(run_of("transcription", tmp_path, scores))
    assert spoken.metrics == ("wer", "cer") and spoken.options == ("--lowercase",)


def test_time_of_updates_that_were_trained_twice_counts_once_in_curves(tmp_path):
    run = run_of("translation", tmp_path)
    run.timing.extend([{"update": 10, "seconds": 2}, {"update": 20, "seconds": 5}, {"update": 20, "seconds": 3}])
    assert _curves.seconds_at(run) == [(0, 0), (10, 2), (20, 5)] and run.seconds == 10
    assert _curves._between(_curves.seconds_at(run), 15) == 3.5 and _curves._between(_curves.seconds_at(run), 21) is None


def test_names_are_as_short_as_they_can_be(tmp_path):
    assert _comparison.names_of([tmp_path / "x/a", tmp_path / "y/b"]) == ["a", "b"]
    assert _comparison.names_of([tmp_path / "x/a", tmp_path / "y/a"]) == ["x/a", "y/a"]


def test_a_table_as_text_is_in_line():
    table = _report.Table(["", "one", "a long one"], [["x", "1", "22"], ["`yy`", "3,333", "4"]], best=frozenset({(1, 1)}))
    assert table.plain() == "         one   a long one\nx          1           22\n`yy`   3,333*           4\n"
    assert "| `yy` | **3,333** | 4 |" in table.markdown() and "<b>3,333</b>" in table.html()
