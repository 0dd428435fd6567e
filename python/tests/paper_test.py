"""attend paper: what its tables count, keep and draw."""

import json
import os
import pathlib
import re
import subprocess

import pytest
from package import ENVIRONMENT, PROGRAM

pytest.importorskip("matplotlib")
import attend  # noqa: E402
from attend import _plots, _report  # noqa: E402
from attend.paper import _ranks, _table2, _table2_rivals, _table3, _table3_rows  # noqa: E402
from attend.paper.__main__ import seconds  # noqa: E402
from attend.paper import _work  # noqa: E402
from attend.paper._cells import Cells, locked, processor  # noqa: E402
from attend.paper._work import Budget, Clock, OutOfTimeError, Settings, Work, time_limit  # noqa: E402

INSPECTED = {"parameters": {"total": 5_000_000}, "provenance": {"environment": {"device": "cuda", "gpu": "A GPU"}}}
DATA = os.environ.get("ATTEND_DATA")
RATE = {"operations_per_s": 2e11, "products_per_s": 4e11, "threads": 2, "target_tokens_per_s": 1000}


def paper(*arguments):
    return subprocess.run([PROGRAM, "paper", *map(str, arguments)], capture_output=True, text=True, check=False, env=ENVIRONMENT)


@pytest.fixture(name="work")
def work_in_a_folder(tmp_path):
    settings = Settings(
        data=tmp_path, output=tmp_path, threads=1, rows=[], updates=8, copy_updates=4, row_minutes=12, price=0.5, dry_run=False, quiet=True)
    return Work(settings, Budget(None), Cells(tmp_path / "cells.jsonl"))


def test_rank_correlation_is_scipys():
    stats = pytest.importorskip("scipy.stats")
    for one, other in [([1, 2, 3, 4], [2, 1, 4, 3]), ([1.5, 1.5, 2, 9], [4, 3, 3, 3.5]), ([3, 2, 1], [10, 20, 30])]:
        assert _ranks.spearman(one, other) == pytest.approx(stats.spearmanr(one, other).statistic)
    assert _ranks.spearman([1, 2], [2, 1]) is None and _ranks.spearman([1, 1, 1], [1, 2, 3]) is None


def test_cells_are_kept_and_known_by_their_settings(tmp_path):
    path = tmp_path / "cells.jsonl"
    cells = Cells(path)
    cells.add("a", {"x": 1}, {"bleu": 2})
    cells.add("b", {"x": 1}, {"bleu": 3})
    with path.open("ab") as file:
        file.write(b'{"cell": "c", "sett')  # the program was killed
    again = Cells(path)
    assert again.find("a", {"x": 1}) == {"bleu": 2} and again.find("a", {"x": 2}) is None
    again.add("a", {"x": 2}, {"bleu": 4})
    assert Cells(path).results == again.results and len(again.results) == 3
    assert again.used == [processor()]
    for damaged in ("{}", "[]", '{"cell": "a", "settings": {}, "result": null}', '{"cell": "a", "settings": {}, "result": {}, "processor": 1}'):
        path.write_text(damaged + "\n", encoding="utf-8")
        with pytest.raises(attend.InputError, match="line 1: no cell of `attend paper`; remove the line"):
            Cells(path)


def test_the_processors_of_a_page_are_those_of_its_cells(tmp_path):
    cells = Cells(tmp_path / "cells.jsonl")
    cells.add("a", {}, {"bleu": 2})
    assert cells.used == [processor()]
    old, = cells.path.read_text(encoding="utf-8").splitlines()
    cells.path.write_text(json.dumps(json.loads(old) | {"processor": "old"}) + "\n", encoding="utf-8")
    again = Cells(cells.path)
    assert again.find("a", {}) and again.used == ["old"]
    again.add("a", {}, {"bleu": 3})  # measured anew
    assert again.used == [processor()]


def test_a_second_run_in_a_folder_is_refused(tmp_path):
    with locked(tmp_path):
        done = paper("table1", "--output", tmp_path, "--budget", "0s")
        assert done.returncode == 1, done.stderr
        assert done.stderr == f"attend paper: output directory '{tmp_path}' is in use by another `attend paper`; wait for it or choose another --output\n"
        assert paper("table1", "--output", tmp_path, "--dry-run").returncode == 0
    with locked(tmp_path):
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("precision", "options"), [("recipe", {}), ("f32", {"precision": "f32"})])
def test_trainings_have_the_precision_that_was_asked_for(work, tmp_path, monkeypatch, precision, options):
    trained = []
    monkeypatch.setattr(_work, "_train", lambda **found: trained.append(found))
    work.settings.precision = precision
    work.train(tmp_path / "run", max_updates=1)
    assert trained == [{"output": tmp_path / "run", "quiet": True, "threads": 1, "device": "cpu", "max_updates": 1} | options]


def test_a_training_keeps_the_precision_that_it_began_with(work, tmp_path, monkeypatch):
    monkeypatch.setattr(_work, "_train", lambda **_: None)
    (tmp_path / "run").mkdir()
    (tmp_path / "run/config.toml").write_text('dropout = 0.1  # of sums\nprecision = "bf16"\n', encoding="utf-8")
    work.train(tmp_path / "run", config="recipe.toml")
    work.settings.precision = "f32"
    with pytest.raises(attend.ConfigurationError, match="'.*run' began with products in bf16 and would go on in f32; give --precision bf16"):
        work.train(tmp_path / "run", config="recipe.toml")


@pytest.mark.parametrize("damaged", ["", "12", "nan\n", "\0\0"])
def test_a_clock_that_cant_be_read_begins_at_0(work, tmp_path, monkeypatch, damaged):
    monkeypatch.setattr(_work, "_train", lambda **_: None)
    (tmp_path / "run.seconds").write_text(damaged, encoding="utf-8")
    seconds_before = 12 if damaged == "12" else 0
    assert work.train(tmp_path / "run") == (pytest.approx(seconds_before, abs=5), True)
    assert float((tmp_path / "run.seconds").read_text(encoding="utf-8")) == pytest.approx(seconds_before, abs=5)


def test_a_clock_is_written_whole(tmp_path, monkeypatch):
    clock = Clock(tmp_path / "run.seconds")
    clock.path.write_text("12\n", encoding="utf-8")

    def full(path, *_, **__):
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pathlib.Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"), clock.running():
        pass
    assert clock.path.read_text(encoding="utf-8") == "12\n" and Clock(clock.path).seconds == 12


def test_a_cell_is_measured_once_and_within_the_budget(work):
    calls = []
    for _ in range(2):
        assert work.cell("a", {}, lambda: calls.append(1) or {"x": len(calls)}) == {"x": 1}
    work.budget = Budget(0)
    assert work.cell("b", {}, lambda: calls.append(1) or {}) is None and calls == [1]
    with pytest.raises(OutOfTimeError), time_limit(0.01):
        while True:
            pass
    assert [seconds(text) for text in ("90s", "1.5m", "4h")] == [90, 90, 14400]


def parameters(work, row):
    model = work.preset("base", 37000)
    return work.inspect(_table3_rows.with_stacks(model, _table3_rows.FULL_SIZE | row.full_size))["parameters"]["total"]


def test_parameters_of_the_papers_rows(work):
    counts = {row.name: parameters(work, row) for row in _table3_rows.ROWS}
    assert counts["base"] == 63045632 and counts["big"] == 214171648
    # Millions that do not depend on the vocabulary, by hand: 4 d^2 + 2 d d_ff an encoder layer, 8 d^2 + 2 d d_ff a decoder layer.
    expected = {"A1": 0, "A2": 0, "A3": 0, "A4": 0, "B1": -7.08, "B2": -4.72, "C1": -29.4, "C2": -14.7, "C3": 14.7, "C6": -12.6, "C7": 25.2,
                "D1": 0, "D2": 0, "D3": 0, "D4": 0, "E": 2 * 1024 * 512 / 1e6}
    for name, millions in expected.items():
        assert (counts[name] - counts["base"]) / 1e6 == pytest.approx(millions, abs=0.05), name
    # The paper's own counts are of a vocabulary that it does not tell exactly: some 4,000 tokens more; big's is of another one.
    for row in _table3_rows.ROWS:
        if row.millions is not None and row.name != "big":
            more = 4000 * row.full_size.get("d_model", 512) / 1e6
            assert counts[row.name] / 1e6 + more == pytest.approx(row.millions, abs=0.6), row.name


def test_rows_keep_the_papers_proportions():
    for row in _table3_rows.ROWS:
        for key, value in row.small.items():
            if key in ("positions", "max_positions"):
                continue
            usual = {"d_k": 64}.get(key) or _table3_rows.FULL_SIZE[key]
            here = {"d_k": 32}.get(key) or _table3_rows.SMALL[key]
            assert abs(value - here * row.full_size[key] / usual) < 0.7, (row.name, key)
        assert row.full_size.keys() <= row.small.keys() and re.sub(r"\d+|[.]", "", row.change) == re.sub(r"\d+|[.]", "", row.here)
    assert len(_table3_rows.ROWS) == 20


def fill_rates(work):
    work.settings.rows = ["rate"]  # or rivals would be trained
    for precision, factor in (("f32", 0.5), ("bf16", 1)):
        settings = {"precision": precision, "threads": 1, "updates": _table2.RATE_UPDATES, "batch": _table2.RATE_BATCH}
        work.cells.add(f"table2/rate/{precision}", settings, RATE | {"operations_per_s": factor * RATE["operations_per_s"]})


def test_table2_counts_the_papers_trainings(work):
    fill_rates(work)
    report = _table2.make(work)
    rows = {row["model"]: row for row in report.data["rows"]}
    for name, estimate, parameters_of in [("Transformer base", 3.3e18, 63e6), ("Transformer big", 2.3e19, 214e6)]:
        row = rows[name]
        assert row["hardware_times_time"] == pytest.approx(estimate, rel=0.01) == pytest.approx(row["published_operations"][0], rel=0.01)
        tokens = row["pairs"] * 25
        assert tokens == 25000 * (100000 if name.endswith("base") else 300000)
        # Six operations for each weight and token, the encoder's of the source and the others of the target; and a little for attention.
        assert 0.85 < row["training"] / (6 * parameters_of * tokens) < 1.05
    text = report.markdown()
    base = rows["Transformer base"]["training"]
    assert f"| {base / 2e11 / 86400:,.0f} | {base / 2e11 / 3600 * 0.5:,.0f} |" in text
    assert "200 GFLOP/s in bf16 (50 %" in text and "| GNMT + RL | 24.6 | 39.92 | 2.3e19 | 1.4e20 | 666 | 4,051 |" in text


def test_table2_names_the_processor_that_was_measured(work):
    fill_rates(work)
    for key in work.cells.processors:
        work.cells.processors[key] = "Old" if '"f32"' in key else "New"
    text = _table2.make(work).markdown()
    assert "Old (threads: 2) trains the base model at 100 GFLOP/s in f32 (25 % of what its large matrix products reach, 400). New (threads: 2) trains" in text
    assert "Days and dollars are of New (threads: 2). An hour of it is taken to cost 0.5 US dollars" in text and processor() not in text


def run_of_a_rival(folder, data_dir, max_updates, seed, **_):
    """What a training leaves: four validations."""
    folder.mkdir(parents=True)
    validations = [{"update": max_updates * i // 4, "validation": {"bleu": 10 * i + seed / 10}} for i in range(1, 5)]
    metrics = [{"update": update, "target_tokens": 100 * update} for update in range(1, max_updates + 1)] + validations
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in metrics), encoding="utf-8")
    (folder / "result.json").write_text(json.dumps({"bleu": {"score": 30 + seed}}), encoding="utf-8")
    (folder / "config.toml").write_text(f'seed = {seed}\nprecision = "{"f32" if seed == 2 else "bf16"}"\n', encoding="utf-8")
    return 1.0, data_dir is not None


def test_table2_shows_what_the_rivals_reach(work, monkeypatch):
    fill_rates(work)
    work.settings.rows, work.settings.updates = ["lstm", "lstm-seeds", "lstm-speed"], 80
    trained = []
    monkeypatch.setattr(work, "train", lambda folder, **options: trained.append(options) or run_of_a_rival(folder, **options))
    monkeypatch.setattr(_table2_rivals, "translating_rate", lambda *_: 1234.5)
    answers = {"inspect": INSPECTED, "bench": {"ms_per_update": 5000, "target_tokens_per_s": 20, "threads": 1}}
    monkeypatch.setattr(
        work, "attend", lambda *arguments: Work.attend(work, *arguments) if "--preset" in arguments else answers[arguments[0]])
    report = _table2.make(work)
    rival = report.data["rivals"][1]
    assert (rival["model"], len(rival["seeds"]), rival["speed"]["target_tokens_per_s"]) == ("LSTM with attention", 3, 20)
    # 30 BLEU after 60 of 80 updates, 35 at the end, 5 seconds each.
    assert rival["whole"]["updates_to"] == {"30": 60, "35": 80} and rival["minutes_to"] == {"30": 5, "35": pytest.approx(80 / 12)}
    assert "| LSTM with attention | 31.00 | 40.10 | 5,000,000 | 20 | 5 | 7 | 1,234 | 32.00\u00a0±\u00a01.00 |" in report.markdown()
    assert "| LSTM with attention | 38.1 | Caglayan et al. 2017, ± 0.8 | 31.00 | -7.10 | no |" in report.markdown()
    assert "Trained on a GPU (A GPU): LSTM with attention." in report.markdown()
    assert report.markdown().count("Trained on a GPU (A GPU): LSTM with attention, a tenth.") == 1
    assert rival["whole"]["products"] == "bf16" and [seed["products"] for seed in rival["seeds"]] == ["bf16", "f32", "bf16"]
    assert report.markdown().count("Trained with products in f32, where the recipe has bf16: LSTM with attention, a tenth.") == 1
    assert f"Speeds of training were measured on {processor()} (threads: 1): LSTM with attention." in report.markdown()
    # The three best of few validations would not all be late ones.
    assert [(options["max_updates"], options["validate_every"]) for options in trained] == [(80, 8)] + [(8, 1)] * 3
    assert len({options["seed"] for options in trained[1:]}) == 3
    again = _table2.make(work)  # nothing is trained again
    assert len(trained) == 4 and again.html() == report.html() and "<svg" in again.html()
    for row, ending in (("gru", "convolution-speed"), ("transfomer", "convolution-speed; did you mean 'transformer'?")):
        work.settings.rows = [row]
        with pytest.raises(attend.ConfigurationError, match=f"--rows has '{row}', .*{re.escape(ending)}$"):
            _table2.make(work)


def test_parameters_of_rivals_need_no_training(work):
    """They are those of `attend train --dry-run` with the recipes."""
    fill_rates(work)
    report = _table2.make(work)
    assert {rival["model"]: rival["parameters"] for rival in report.data["rivals"]} == {
        "Transformer": 5_296_896, "LSTM with attention": 5_349_376, "ConvS2S": 5_474_304}
    assert "| LSTM with attention | – | – | 5,349,376 | – | – | – | – | – |" in report.markdown()


def outcome(rival, scores, whole=None, reached=(60, None)):
    """Of a rival whose seeds have these BLEU scores; `reached` are the updates to each goal."""
    goals = dict(zip(map(str, _table2_rivals.GOALS), reached, strict=True))
    return _table2_rivals.Outcome(rival, whole, [{"bleu": score, "updates_to": goals} for score in scores], None, 9)


def test_table2_shows_what_is_published_beside():
    transformer, lstm, convolution = _table2_rivals.RIVALS
    found = [outcome(transformer, [38, 39, 38.5]), outcome(lstm, [32], {"bleu": 37.1}), outcome(convolution, [38])]
    assert _table2_rivals.published_table(found).rows == [
        ["Transformer", "41.02", "Wu et al. 2021, Transformer-Tiny", "38.50, a tenth", "-2.52", "no"],
        ["LSTM with attention", "38.1", "Caglayan et al. 2017, ± 0.8", "37.10", "-1.00", "yes"],
        ["ConvS2S", "–", "–", "38.00, a tenth", "–", "–"]]
    better, nearly, missing = outcome(transformer, [], {"bleu": 43.0}), outcome(lstm, [37.09]), outcome(lstm, [])
    assert [row[3:] for row in _table2_rivals.published_table([better, nearly, missing]).rows] == [
        ["43.00", "+1.98", "yes"], ["37.09, a tenth", "-1.01", "no"], ["–", "–", "–"]]


def test_table2_says_when_a_tenth_reaches_its_goals(work):
    transformer, lstm, convolution = _table2_rivals.RIVALS
    some = outcome(convolution, [30, 31], reached=(1000, None))
    some.seeds[1]["updates_to"] = {"30": 1500, "35": 2000}
    found = [outcome(transformer, []), outcome(lstm, [30, 31, 32]), some]
    said = "Updates of a tenth to 30 and to 35 BLEU on the validation text, a mean over the seeds that reach it: "
    assert f"{said}LSTM with attention 60 and none of 3; ConvS2S 1,250 and 2,000 (1 of 2)." in _table2_rivals.notes(work, found)
    assert not any(note.startswith("Updates of a tenth") for note in _table2_rivals.notes(work, found[:1]))


def test_speeds_are_those_of_a_processor_and_its_threads():
    found = [outcome(rival, [], {"processor": "New"}) for rival in _table2_rivals.RIVALS]
    for each, (place, threads) in zip(found, (("Old", 2), ("Old", 1), ("Old", 2)), strict=True):
        each.speed = {"processor": place, "threads": threads}
    assert _table2_rivals.places(found) == [
        "Speeds of training were measured on Old (threads: 2): Transformer, ConvS2S.", "Speeds of training were measured on Old (threads: 1): LSTM with attention.",
        "Speeds of translating were measured on New (threads: 1): Transformer, LSTM with attention, ConvS2S."]


@pytest.mark.parametrize("side", [0, 1])
def test_labels_of_table2s_plot_stand_in_their_axes_and_apart(side):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    counts = {"base": {"training": 9.5e17}, "big": {"training": 9.7e18}}
    with _plots.drawing(2) as (_, axes):
        for each in (0, 1):
            _table2.draw(axes[each], each, counts)
        canvas = FigureCanvasAgg(axes[0].figure)
        canvas.draw()
        frame = axes[side].get_window_extent()
        boxes = {label.get_text(): label.get_window_extent(canvas.get_renderer()) for label in axes[side].texts}
    assert len(boxes) > 5
    for name, box in boxes.items():
        assert frame.x0 < box.x0 and box.x1 < frame.x1 and frame.y0 < box.y0 and box.y1 < frame.y1, name
        assert not [other for other in boxes if other != name and box.overlaps(boxes[other])], name


def test_pages_stand_alone(work, tmp_path):
    fill_rates(work)
    report = _table2.make(work)
    report.add_processors(["a <processor>"])
    paths = report.write(tmp_path / "table2")
    assert [path.name for path in paths] == ["table2.json", "table2.md", "table2.html"]
    page = paths[2].read_text(encoding="utf-8")
    assert "<svg" in page and "a &lt;processor&gt;" in page
    assert not re.search(r"(?:src|href)=\"(?!#)", page.replace("xlink:href", "href"))
    assert json.loads(paths[0].read_text(encoding="utf-8"))["price_per_hour"] == 0.5
    assert report.html() == page


def test_tables_of_a_report():
    table = _report.Table(["a", "b"], [["x<y", "1"], ["`z`", "2"]], strong=(1,))
    assert table.markdown() == "| a | b |\n| --- | ---: |\n| x<y | 1 |\n| **`z`** | **2** |\n"
    assert "<td class=text>x&lt;y</td><td>1</td>" in table.html() and "<code>z</code>" in table.html()


def test_table3_shows_what_is_measured(work):
    values = {"base": (8.0, 30.0), "A1": (11.0, 28.0), "A2": (10.5, 29.0), "C1": (10.0, 25.0)}
    for row in _table3_rows.ROWS:
        for seed in _table3.SEEDS.get(row.name, (1,)) if row.name in values else ():
            perplexity, bleu = values[row.name]
            result = {"update": 8, "perplexity": perplexity + seed, "bleu": bleu, "minutes": 1.0, "finished": row.name != "C1"}
            result |= {"row_minutes": 12} if row.name == "C1" else {}
            work.cells.add(f"table3/{row.name}-seed{seed}", _table3.options_of(row, seed, 8), result)
    work.settings.rows = ["C1"]  # or the others would be trained
    report = _table3.make(work)
    text = report.markdown()
    assert "6 of 22 trainings are measured" in text and "10.00\u00a0±\u00a01.00" in text and "25.0\u00a0*" in text
    of_a = next(each for each in report.data["spearman"] if each["block"] == "A")
    assert (of_a["rows"], of_a["perplexity"], of_a["bleu"]) == (3, 1.0, 1.0)
    assert "<svg" in report.html() and "The trainings took 1 minute each. `--row-minutes` was 12 for 1 of them. * marks" in text
    # A longer limit lets the stopped row go on, and no other one.
    work.settings.rows, work.settings.row_minutes, work.settings.dry_run = ["base", "C1"], 13, True
    text = _table3.make(work).markdown()
    assert "1 trainings, 13 minutes at most" in text and "encoder.layers 4" in text and "- C1-seed1: encoder.layers 1, decoder.layers 1\n" in text and "__" not in text
    slow = [{"minutes": minutes} for minutes in (9, 12.5, 40)]
    said = _table3.minutes_text([_table3.Outcome(_table3_rows.ROWS[0], 1, 1, slow)])
    assert said == "The trainings took 9 to 40 minutes each. 2 of them took more than the 12 minutes that a row has where `--row-minutes` is not given. "
    measured = [{"minutes": 40, "row_minutes": 60.0}, {"minutes": 5, "row_minutes": 12}]
    assert _table3.minutes_text([_table3.Outcome(_table3_rows.ROWS[0], 1, 1, measured)]).endswith("`--row-minutes` was 12 or 60 for all of them. ")


def test_a_row_of_table3_keeps_what_it_might_take(work, monkeypatch):
    for side in ("en", "de"):
        for part in ("train", "val"):
            (work.settings.data / "multi30k").mkdir(exist_ok=True)
            (work.settings.data / f"multi30k/{part}.{side}").touch()
    monkeypatch.setattr(work, "train", lambda *_, **__: (90.0, True))
    monkeypatch.setattr(_table3, "last_validation", lambda _: {"update": 8, "perplexity": 5.0, "bleu": 30.0})
    work.settings.row_minutes = 2
    training = _table3.Training(work, _table3_rows.ROWS[0], 1)
    training.measure()
    assert training.found()["minutes"] == 1.5 and training.found()["row_minutes"] == 2 and not training.is_left()
    work.settings.row_minutes = 60  # what is finished has no more to do
    assert not training.is_left()


def test_a_row_with_learned_positions_is_trained(tmp_path):
    """At the default max_length."""
    for side in ("en", "de"):
        (tmp_path / side).write_text("a b c d e f\n" * 40, encoding="utf-8")
    (row,) = (row for row in _table3_rows.ROWS if row.small.get("positions") == "learned")
    options = _table3.options_of(row, 1, updates=1) | {"vocab_size": 12, "beam_size": 1}
    texts = {f"{part}_{kind}": tmp_path / side for part in ("train", "valid") for kind, side in (("source", "en"), ("target", "de"))}
    attend.train(output=tmp_path / "run", quiet=True, threads=1, **texts, **options)
    assert (tmp_path / "run/model").exists()


def test_the_command_and_its_errors(tmp_path):
    done = paper("table3", "--output", tmp_path / "out", "--dry-run")
    assert done.returncode == 0 and "| C4 | d_model = 256, d_k = d_v = 32 | 5.75 | 24.5 | 28 | 26.82 |" in done.stdout, done.stdout + done.stderr
    assert not (tmp_path / "out").exists()
    for arguments, status, words in [
        (["tabel3", "--output", tmp_path / "out"], 2, "did you mean 'table3'?"),
        (["table3"], 2, "--output is missing"),
        (["table3", "--output", tmp_path / "out", "--budget", "4"], 2, "--budget is '4'"),
        (["table3", "--output", tmp_path / "out", "--rows", "C9"], 2, "--rows has 'C9'"),
        (["table1", "--output", tmp_path / "out", "--price", "3"], 2, "table1 has no --price; it is an option of table2"),
        (["figures", "--output", tmp_path / "out", "--rows", "base"], 2, "figures has no --rows; it is an option of table1, table2, table3, table4"),
        (["table3", "--output", tmp_path / "out", "--data-dir", tmp_path], 3, "multi30k/train.en' is missing"),
    ]:
        done = paper(*arguments)
        assert done.returncode == status and words in done.stderr and done.stderr.splitlines()[-1].startswith("attend paper"), done.stderr


def test_matplotlib_is_named_where_it_is_missing(work, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    fill_rates(work)
    with pytest.raises(ModuleNotFoundError, match="a plot needs the package matplotlib: pip install matplotlib"):
        _table2.make(work)


@pytest.mark.skipif(not DATA or not pathlib.Path(DATA, "multi30k").is_dir(), reason="ATTEND_DATA names no folder with multi30k")
def test_a_training_that_the_budget_stopped_goes_on(tmp_path):
    call = ["table3", "--data-dir", DATA, "--output", str(tmp_path), "--rows", "C1", "--updates", "40", "--threads", "2", "--quiet"]
    assert paper(*call, "--budget", "6s").returncode == 0
    assert not (tmp_path / "cells.jsonl").exists() and (tmp_path / "runs/C1-seed1-40").exists()
    assert paper(*call).returncode == 0
    (cell,) = map(json.loads, (tmp_path / "cells.jsonl").read_text(encoding="utf-8").splitlines())
    assert cell["cell"] == "table3/C1-seed1" and cell["result"]["finished"] and cell["result"]["update"] == 40
    spent = (tmp_path / "runs/C1-seed1-40.seconds").read_text(encoding="utf-8")
    assert paper(*call).returncode == 0 and (tmp_path / "runs/C1-seed1-40.seconds").read_text(encoding="utf-8") == spent  # it trains no more
    assert "1 of 22 trainings" in (tmp_path / "table3.md").read_text(encoding="utf-8")
