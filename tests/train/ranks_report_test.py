"""What every process did stands in one log and one report, and changes no bit of the run."""

import json
import math

import pytest
import tiny_run
from ranks import prepare, trained  # noqa: F401


def rank_lines(output):
    lines = [json.loads(line) for line in (output / "timing.jsonl").read_text().splitlines()]
    return [line["ranks"] for line in lines if "ranks" in line]


def test_one_log_has_the_work_of_every_rank(options, tmp_path):
    options = options | {"report_every": 5, "max_updates": 20}
    output = trained(options, tmp_path / "two")
    found = rank_lines(output)
    assert len(found) == 4 and all(len(ranks) == 2 for ranks in found)
    updates = [line for line in tiny_run.metrics(output) if "loss" in line and "validation" not in line]
    for i, ranks in enumerate(found):
        window, before = updates[5 * i: 5 * i + 5], updates[5 * i - 1]["target_tokens"] if i else 0
        assert sum(rank["target_tokens"] for rank in ranks) == window[-1]["target_tokens"] - before
        tokens = [line["target_tokens"] - previous for line, previous in zip(window, [before, *(line["target_tokens"] for line in window)])]
        whole = math.fsum(line["loss"] * count for line, count in zip(window, tokens))
        assert sum(rank["loss"] for rank in ranks) == pytest.approx(whole, rel=1e-5)
        for rank in ranks:
            assert rank["target_tokens"] > 0 and rank["computing_seconds"] > 0
            assert rank["waiting_seconds"] >= 0 and rank["data_seconds"] >= 0
    page = (output / "report.html").read_text()
    data = json.loads(page.split('type="application/json">')[1].split("</script>")[0])
    assert len(data["speed"]["ranks"]) == len(data["speed"]["rank_curves"]) == 2
    assert sum(rank[0] for rank in data["speed"]["ranks"]) == updates[-1]["target_tokens"]


def test_reports_change_no_bit(options, tmp_path):
    """Of rare and of frequent reports, but for what says how often they come."""
    runs = [trained(options | {"report_every": every, "max_updates": 20}, tmp_path / str(every)) for every in (1, 20)]
    tensors = [sorted(run.glob("model/*.safetensors")) for run in runs]
    assert tensors[0] and [path.read_bytes() for path in tensors[0]] == [path.read_bytes() for path in tensors[1]]
    assert (runs[0] / "metrics.jsonl").read_bytes() == (runs[1] / "metrics.jsonl").read_bytes()


def test_one_process_has_no_ranks(options, tmp_path):
    tiny_run.trained(options | {"report_every": 5}, tmp_path / "one")
    assert rank_lines(tmp_path / "one") == []
