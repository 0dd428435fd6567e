"""The pages that programs write, attention.html and report.html, in a real Chromium."""

import json
import pathlib
import subprocess

import pytest
import server as programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests/data/golden_v1"
PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
OPTIONS = {"languages": ["en", "de"], "label_smoothing": 0.1, "preset": "tiny", "beam_size": 2, "encoder": {"layers": 2, "heads": 4}}
DATA = {
    "train": {"loss": [[10, 4.0], [20, 3.0]], "gradient_norm": [[10, 1.0]], "learning_rate": [[10, 0.1]]},
    "valid": {"loss": [[20, 2.5]], "bleu": [[10, 20.0], [20, 30.0], [30, 25.0]], "full": [[10, 100], [20, 100]], "still": [[10, 50.0]]},
    "skipped": 0,
    "last": {"update": 20, "epoch": 0, "target_tokens": 9000},
    "note": "",
    "options": OPTIONS,
    "defaults": {**OPTIONS, "languages": [], "preset": "base", "encoder": {"layers": 4, "heads": 4}},
    "samples": {
        "update": 20,
        "samples": [
            {"input": "a", "reference": "the old dog, runs", "output": "the dog runs far"},
            {"input": "b", "reference": "他是老师", "output": "他是学师", "picture": PIXEL},
        ],
    },
    "test": {"ter": {"score": 41.25}, "cut": 3, "none": 0, "labels": ["a", "b"], "confusion": [[3, 1], [0, 0]],
             "by_inputs": [{"inputs": ["text", "links"], "accuracy": 75.0, "macro_f1": 42.857}]},
    "speed": {"seconds": 3725, "target_tokens_per_s": 1234.4, "curve": [[10, 1200], [20, 1300]]},
    "task": {
        "validation": [
            {"name": "loss", "label": "loss", "high_is_better": False},
            {"name": "bleu", "label": "BLEU", "high_is_better": True},
            {"name": "chrf", "label": "chrF", "high_is_better": True},
            {"name": "full", "label": "full", "high_is_better": True},
            {"name": "still", "label": "still", "high_is_better": True},
        ],
        "name": "tagging",
        "charts": [
            {"title": "Validation BLEU and chrF", "axis": "0 to 100", "figures": ["bleu", "chrf"], "most": 100},
            {"title": "All figures", "axis": "0 to 100", "figures": ["full", "bleu", "still", "loss"], "most": 100},
            {"title": "Full", "axis": "0 to 100", "figures": ["full"], "most": 100},
            {"title": "Unbounded", "axis": "more is better", "figures": ["full"], "most": None},
        ],
        "target": "word",
        "test": [{"name": "ter", "label": "TER", "high_is_better": False}, {"name": "cut", "label": "outputs cut", "high_is_better": False},
                 {"name": "none", "label": "WER", "high_is_better": False}],
        "samples": "Sample translations",
        "sample_input": "source",
    },
    "machine": {"processor": "Swift 9", "threads": 2, "processes": 1, "device": "cpu"},
    "parameters": 915968,
}


@pytest.fixture(name="report")
def write_report(browser, tmp_path):
    template = (ROOT / "src/train/logs/report.html").read_text(encoding="utf-8")
    path = tmp_path / "report.html"
    path.write_text(template.replace("@DATA@", json.dumps(DATA)), encoding="utf-8")
    browser.get(path.as_uri())
    return lambda script: browser.execute_script(f"return {script}")


def texts(selector):
    return f"[...document.querySelectorAll('{selector}')].map(each => each.textContent)"


def test_losses_have_a_panel_each(report):
    assert report(texts(".chart h3"))[:2] == ["Training loss, with label smoothing", "Validation loss, without label smoothing"]
    curves = report("[...document.querySelectorAll('.chart')].map(each => each.querySelectorAll('.curve').length)")
    assert curves[:2] == [1, 1]


def test_report_tells_time_speed_parameters_and_machine(report):
    cards = dict(zip(report(texts(".card > span")), report(texts(".card > b"))))
    assert (cards["time in updates"], cards["words/s"], cards["parameters"]) == ("1 h 2 min", "1,234", "915,968")
    assert report("document.getElementById('machine').textContent") == "Machine: Swift 9 · 2 threads · device cpu"


def test_figures_are_those_of_the_task(report):
    cards = dict(zip(report(texts(".card > span")), report(texts(".card > b"))))
    assert (cards["best validation BLEU"], cards["test TER"], cards["test outputs cut"], cards["test WER"]) == ("30", "41.25", "3", "0")
    assert "best validation chrF" not in cards and "best validation loss" not in cards
    assert report(texts(".chart h3"))[2] == "Validation BLEU and chrF"
    assert report(texts("#samples h2")) == ["Sample translations at update 20"]
    assert report(texts(".samples th")) == ["source", "reference", "output"]


def test_labels_have_a_table(report):
    assert report(texts("#classes h2")) == ["Test by inputs", "Test, label by label"]
    assert report(texts("#classes table:not(.confusion) td")) == ["text, links", "75", "42.86"]
    assert report(texts(".confusion th")) == ["", "a", "b", "right", "a", "b"]
    assert report(texts(".confusion td")) == ["3", "1", "75.0 %", "", "", "–"]


def chart(title):
    return f"[...document.querySelectorAll('.chart')].find(each => each.querySelector('h3').textContent === '{title}')"


def test_the_task_is_named(report):
    assert report("document.title") == "attend: training report, tagging"
    assert report("document.querySelector('h1').textContent") == "Training report: tagging"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_curves_have_a_colour_each(browser, report, scheme):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    lines = report(f"[...{chart('All figures')}.querySelectorAll('.curve')].map(each => getComputedStyle(each).stroke)")
    swatches = report(f"[...{chart('All figures')}.querySelectorAll('.key i')].map(each => getComputedStyle(each).backgroundColor)")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert len(set(lines)) == 4 and lines == swatches and all(line.startswith("rgb(") for line in lines)


def test_the_axis_of_percents_ends_at_100(report):
    def highest(title):
        return max(float(text) for text in report(f"[...{chart(title)}.querySelectorAll('svg text[text-anchor=end]')].map(each => each.textContent)"))

    assert highest("Full") == 100
    assert highest("Unbounded") == 110


def test_differences_of_samples_are_marked(report):
    assert report(texts(".samples del")) == ["old", ",", "老"]
    assert report(texts(".samples ins")) == ["far", "学"]
    assert report(texts(".samples td"))[1:3] == ["the old dog, runs", "the dog runs far"]


def test_a_sample_shows_its_picture(report):
    assert report("[...document.querySelectorAll('.samples tr')].map(row => row.querySelectorAll('img').length)") == [0, 0, 1]
    assert report("document.querySelector('img.sample').naturalWidth") == 1


def test_changed_options_come_first_and_defaults_are_folded(report):
    rows = "#options > .scroll td:first-child"
    assert report(texts(rows)) == ["languages", "preset", "encoder.layers"]
    assert report("document.querySelector('details').open") is False
    assert report(texts("details td:first-child")) == ["label_smoothing", "beam_size", "encoder.heads"]


@pytest.mark.parametrize("width", [1400, 420])
def test_lines_of_one_head_take_the_width_of_the_page(browser, tmp_path, width):
    path = tmp_path / "attention.html"
    command = [programs.ATTEND, "attention", "--model", MODEL, "--source", "paku neri dosa, ilvo.", "--output", path, "--quiet"]
    subprocess.run(command, check=True)
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    grounds = set()
    for scheme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        browser.get(path.as_uri())
        for group, label in (("views", "lines"), ("heads", "2")):
            buttons = f"[...document.querySelectorAll('[data-group={group}] button')]"
            browser.execute_script(f"{buttons}.find(each => each.textContent === '{label}').click()")
        figure, room = browser.execute_script(
            "return ['.figures figure', '.figures'].map(each => document.querySelector(each).getBoundingClientRect().width)"
        )
        assert figure > 0.97 * room
        assert not browser.execute_script("return document.querySelector('.legend').checkVisibility()")  # it is of heat maps
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        grounds.add(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
    assert len(grounds) == 2
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
