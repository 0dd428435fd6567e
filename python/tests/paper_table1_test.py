"""attend paper table1: exponents, what is measured of layers, and the copy task."""

import contextlib
import itertools
import json

import pytest

pytest.importorskip("matplotlib")
import attend  # noqa: E402
from attend import _plots  # noqa: E402
from attend.paper import _table1, _table1_copy, _table1_layers  # noqa: E402
from attend.paper._cells import Cells  # noqa: E402
from attend.paper._fit import power_law  # noqa: E402
from attend.paper._work import Budget, Settings, Work  # noqa: E402


@pytest.fixture(name="work")
def work_in_a_folder(tmp_path):
    settings = Settings(
        data=tmp_path, output=tmp_path, threads=1, rows=[], updates=8, copy_updates=4, row_minutes=12, price=0.5, dry_run=False, quiet=True)
    return Work(settings, Budget(None), Cells(tmp_path / "cells.jsonl"))


@pytest.fixture(name="tiny")
def tiny_sizes(monkeypatch):
    for name, value in {"LENGTHS": (8, 16, 32), "WIDTHS": (8, 16), "SECONDS": 0.0, "FITTED_LENGTH": 8, "FITTED_WIDTH": 8, "WINDOW": 4,
                        "GRAPH_LENGTHS": (8, 16, 40)}.items():
        monkeypatch.setattr(_table1_layers, name, value)
    for name, value in {"DISTANCES": (4, 6), "TRAINING_PAIRS": 60, "TESTED": 3, "WIDTH": 8}.items():
        monkeypatch.setattr(_table1_copy, name, value)


def test_exponents_of_timings():
    sizes = list(itertools.product((256, 512, 4096), (64, 128, 1024)))
    law = power_law([(n, d, 3e-9 * n**2 * d) for n, d in sizes])
    assert (law.of_n, law.of_d, law.factor) == pytest.approx((2, 1, 3e-9)) and law.error < 1e-9
    assert law(1000, 10) == pytest.approx(0.03)
    # Every second measurement is twice what it should be.
    noisy = power_law([(n, d, (1 + i % 2) * 1e-9 * n * d**2) for i, (n, d) in enumerate(sizes)])
    assert (noisy.of_n, noisy.of_d) == pytest.approx((1, 2), abs=0.2) and 0.3 < noisy.error < 0.4
    for undecided in ([], sizes[:1], [(n, 64) for n in (16, 32, 64)], [(16, d) for d in (64, 128)], [(16, 64), (32, 128), (64, 256)]):
        assert power_law([(n, d, 1.0 * n * d) for n, d in undecided]) is None


def test_it_measures_what_the_paper_says(work, tiny):
    work.settings.rows = [kind.bench for kind in _table1_layers.KINDS]
    report = _table1.make(work)
    assert len(report.data["layers"]) == len(_table1_layers.KINDS)
    for entry, kind in zip(report.data["layers"], _table1_layers.KINDS, strict=True):
        assert len(entry["measured"]) == (6 if kind.timed else 0) and entry["left_out"] == []
        for point in entry["measured"]:
            assert point["forward_s"] > 0 < point["backward_s"] and 0 < point["kept_bytes"] < point["peak_bytes"]
        chains = [point["sequential_operations"] for point in entry["graph"]]
        if kind.bench == "lstm":
            assert (chains[2] - chains[1]) == 3 * (chains[1] - chains[0]) > 3 * 7
        else:
            assert len(set(chains)) == 1 < chains[0]
        assert [point["path_length"] for point in entry["graph"]] == [_table1_layers.expected_path(kind, n) for n in (8, 16, 40)]
    text = report.markdown()
    assert "| recurrent (LSTM) | O(n) | " in text and " n + " in text and "| O(n/r) | 2 | 4 | 10 |" in text
    assert report.html().count("<svg") == 7
    lines = (work.settings.output / "cells.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 7 + 6 * 2
    work.attend = None  # nothing is measured again
    assert _table1.make(work).data == report.data


def test_what_is_too_much_is_left_out_and_said(work, tiny, monkeypatch):
    monkeypatch.setattr(_table1_layers, "LONGEST", 1e-7)
    work.settings.rows = ["attention"]
    report = _table1.make(work)
    entry = report.data["layers"][0]
    assert len(entry["measured"]) == 2 and {each["reason"] for each in entry["left_out"]} == {"time"}
    assert "self-attention, d = 8, n = 16: left out, it would take too much time." in report.markdown()
    with pytest.raises(attend.ConfigurationError, match="--rows has 'gru', expected some of attention"):
        work.settings.rows = ["gru"]
        _table1.make(work)


def test_the_page_shows_fitted_exponents(work):
    kind = _table1_layers.KINDS[0]
    for width in _table1_layers.WIDTHS:
        settings = {"widths": [width], "lengths": list(_table1_layers.LENGTHS), "seconds": _table1_layers.SECONDS,
                    "longest": _table1_layers.LONGEST, **_table1_layers.shape_settings()}
        points = [{"width": width, "length": n, "forward_s": 1e-9 * n**2 * width, "backward_s": 1e-9 * n**3 * width, "kept_bytes": 1,
                   "peak_bytes": 4 * n * width, "runs": 2} for n in _table1_layers.LENGTHS]
        work.cells.add(f"table1/attention/d{width}", settings | {"times": "means"}, {"measured": points, "left_out": []})
    work.settings.dry_run = True
    report = _table1.make(work)
    row = "| self-attention | O(n² d) | n^2.00\u00a0d^1.00 | n^3.00\u00a0d^1.00\u00a0* | n^1.00\u00a0d^1.00 |"
    assert row in report.markdown() and kind.complexity == "O(n² d)"
    assert "| separable convolution † | O(k n d + n d²) |" in report.markdown()
    assert "| convolutional | O(1) | – | O(log_k n) dilated, O(n/k) contiguous |" in report.markdown()
    assert [entry["kind"] for entry in report.data["layers"] if not entry["paper"]["row_of_its_table"]] == [
        "dilated_convolution", "separable_convolution", "multi_head_attention"]
    assert "n = 16, 32, 64, 128, 256, 512, 1024, 2048, 4096: self-attention; self-attention, restricted;" in report.markdown()
    assert report.html().count("<svg") == 2
    work.settings.rows = ["lstm"]
    assert row in _table1.make(work).markdown()  # what was measured before stays on the page


@pytest.fixture(name="drawn")
def axes_that_are_drawn(monkeypatch):
    found = []

    @contextlib.contextmanager
    def drawing(*size):
        with _plots.drawing(*size) as (result, axes):
            found.append(axes)
            yield result, axes

    for module in (_table1_layers, _table1_copy):
        monkeypatch.setattr(module, "drawing", drawing)
    return found


def test_the_lower_of_two_lines_is_wider():
    thin, more = _plots.THINNEST, _plots.WIDER
    lines = [[(1, 5), (2, 5), (4, 9)], [(1, 5), (2, 6)], [(1, 5), (2, 5.01), (3, 0)], [(1, 7), (2, 5.02)], []]
    assert _plots.widths_of(lines) == [thin] * 5
    assert _plots.widths_of(lines, 0.015) == [thin + more, *[thin] * 4]
    assert _plots.widths_of([lines[0]] * 3) == [thin + 2 * more, thin + more, thin]


def test_plots_show_values_as_they_are(drawn):
    """Where two kinds have the same ones, too."""
    kinds = [_table1_layers.Measured(kind, graph=[{"length": n, "sequential_operations": 5, "path_length": 1 + i // 2 * n} for n in (16, 64)])
             for i, kind in enumerate(_table1_layers.KINDS[:4])]
    plot = _table1_layers.overview(kinds)
    operations, path = drawn[0]
    assert [list(line.get_ydata()) for line in operations.lines] == [[5, 5]] * 4
    assert [list(line.get_ydata()) for line in path.lines] == [[1, 1], [1, 1], [17, 65], [17, 65]]
    widths = [line.get_linewidth() for line in operations.lines]
    assert widths == sorted(set(widths), reverse=True) and "Where lines run together, the lower ones are wider." in plot.caption
    result = {"accuracy": {str(distance): 100 for distance in _table1_copy.DISTANCES}}
    _table1_copy.plot([(model, result) for model in _table1_copy.MODELS])
    accuracies = [line for line in drawn[1][0].lines if len(line.get_xdata()) > 2]
    widths = [line.get_linewidth() for line in accuracies]
    assert len(widths) == 5 and widths == sorted(set(widths), reverse=True)


def test_legends_hide_no_line(drawn):
    points = [{"width": d, "length": n, "forward_s": 1e-6 * n * d, "backward_s": 2e-6 * n * d, "peak_bytes": 4 * n * d}
              for d in _table1_layers.WIDTHS for n in _table1_layers.LENGTHS]
    _table1_layers.plot_of(_table1_layers.Measured(_table1_layers.KINDS[0], points))
    for axis in drawn[0]:
        assert axis.get_legend().get_window_extent().y1 < axis.get_window_extent().y0


def test_pairs_of_the_copy_task():
    source, target = _table1_copy.pair(6, "c")
    assert (source, target) == ("s43", "c s43 s44 s45 s46 s47 c")
    words = target.split()
    assert len(words) == 7 and words[0] == words[6]
    assert [target for _, target in _table1_copy.candidates(2, "b")][:3] == ["b s47 a", "b s47 b", "b s47 c"]


def test_models_learn_to_copy_and_are_asked(work, tiny, monkeypatch):
    work.settings.rows = [f"copy-{model.name}" for model in _table1_copy.MODELS]
    report = _table1.make(work)
    assert list(report.data["copy"]) == ["transformer", "window", "lstm", "convolution", "separable"]
    for result in report.data["copy"].values():
        assert set(result["accuracy"]) == {"4", "6"} and all(0 <= value <= 100 for value in result["accuracy"].values())
    assert "% at 6" in report.markdown() and report.html().count("<svg") == 1
    # The likeliest symbol is the right one where the scores say so.
    monkeypatch.setattr(work, "attend", lambda *_: {"pairs": [
        {"log_probability": -1.0 if target.split()[-1] == target.split()[0] else -2.0}
        for target in (work.settings.output / "runs/copy/test.target").read_text(encoding="utf-8").splitlines()]})
    assert set(_table1_copy.accuracy(work, work.settings.output / "runs/copy", work.settings.output, "cpu").values()) == {100}
    (cell, *_) = map(json.loads, (work.settings.output / "cells.jsonl").read_text(encoding="utf-8").splitlines())
    assert cell["cell"] == "table1/copy/transformer" and cell["settings"]["max_updates"] == 4
