"""attend.mlflow: a run's figures in a store of files, each once."""

import json
import shutil
import sys

import pytest
import tiny_run

pytest.importorskip("mlflow", reason="mlflow-skinny is not installed")
import attend.mlflow  # noqa: E402
from attend.mlflow import log_run  # noqa: E402
from mlflow import MlflowClient  # noqa: E402


@pytest.fixture(name="run", scope="module")
def trained_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    options = tiny_run.prepare(folder)
    tiny_run.trained(options | {"test_source": folder / "valid.en", "test_target": folder / "valid.de"}, folder / "run")
    return folder / "run"


@pytest.fixture(name="store")
def store_of_files(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    return (tmp_path / "store").as_uri()


def history(store, run_id):
    client = MlflowClient(store)
    names = client.get_run(run_id).data.metrics
    return {name: [(point.step, point.value, point.timestamp) for point in client.get_metric_history(run_id, name)] for name in names}


def test_a_finished_run_is_logged_whole_and_once(run, store):
    run_id = log_run(run, tracking_uri=store)
    found, sent = MlflowClient(store).get_run(run_id), history(store, run_id)
    lines = tiny_run.metrics(run)
    validations = [(line["update"], line["validation"]["bleu"]) for line in lines if "validation" in line]
    assert [point[:2] for point in sent["valid/bleu"]] == validations
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    assert [point[:2] for point in sent["test/chrfpp"]] == [(12, result["chrf++"]["score"])]
    timing = [json.loads(line) for line in (run / "timing.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [point[:2] for point in sent["train/target_tokens_per_s"]] == [(line["update"], line["target_tokens_per_s"]) for line in timing]
    updates = [line for line in lines if "loss" in line]
    targets = [line["target_tokens"] - before["target_tokens"] for line, before in zip(updates, [{"target_tokens": 0}, *updates], strict=False)]
    expected = sum(line["loss"] * count for line, count in zip(updates[3:6], targets[3:6], strict=True)) / sum(targets[3:6])
    assert sent["train/loss"][1][:2] == (6, pytest.approx(expected))
    assert found.info.status == "FINISHED" and found.info.run_name == "run"
    assert found.data.params["encoder.d_model"] == "16" and found.data.params["peak_learning_rate"] == "0.01"
    assert {file.path for file in MlflowClient(store).list_artifacts(run_id)} == {"report.html", "config.toml", "result.json", "test_output.txt"}

    assert log_run(run, tracking_uri=store) == run_id
    assert history(store, run_id) == sent
    assert len(MlflowClient(store).search_runs([found.info.experiment_id])) == 1


def test_a_run_at_work_is_logged_on_and_may_have_moved(run, store, tmp_path):
    work = tmp_path / "work"
    shutil.copytree(run, work, ignore=shutil.ignore_patterns("model", "result.json", "test_output.txt"))
    whole = {name: (work / name).read_text(encoding="utf-8").splitlines(keepends=True) for name in ("metrics.jsonl", "timing.jsonl")}
    for name, lines in whole.items():
        text = "".join(line for line in lines if json.loads(line)["update"] <= 6)
        (work / name).write_text(text + lines[-1][:9], encoding="utf-8")  # a line is being written
    run_id = log_run(work, tracking_uri=store)
    assert MlflowClient(store).get_run(run_id).info.status == "RUNNING" and [point[0] for point in history(store, run_id)["train/loss"]] == [3, 6]
    assert log_run(run, tracking_uri=store) == run_id
    assert MlflowClient(store).get_run(run_id).info.status == "FINISHED"
    another = (tmp_path / "another").as_uri()
    assert history(store, run_id) == history(another, log_run(run, tracking_uri=another))


def test_a_call_that_was_cut_short_goes_on(run, store, tmp_path, monkeypatch):
    monkeypatch.setattr(attend.mlflow, "MOST_METRICS", 7)
    log_batch, calls = MlflowClient.log_batch, []

    def failing(client, run_id, metrics=(), params=(), **others):
        calls.append(metrics)
        if sum(bool(each) for each in calls) == 3:
            raise KeyboardInterrupt
        return log_batch(client, run_id, metrics=metrics, params=params, **others)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(MlflowClient, "log_batch", failing)
        log_run(run, tracking_uri=store)
    another = (tmp_path / "another").as_uri()
    assert history(store, log_run(run, tracking_uri=store)) == history(another, log_run(run, tracking_uri=another))


@pytest.mark.parametrize("later", [24, 120])
def test_an_option_that_changed_is_a_tag(run, store, tmp_path, later):
    run_id = log_run(run, tracking_uri=store)
    changed = tmp_path / "changed"
    shutil.copytree(run, changed)
    page = (changed / "report.html").read_text(encoding="utf-8")
    assert page.count('"max_updates":12,') == 1
    (changed / "report.html").write_text(page.replace('"max_updates":12,', f'"max_updates":{later},'), encoding="utf-8")
    assert log_run(changed, tracking_uri=store) == run_id
    found = MlflowClient(store).get_run(run_id).data
    assert found.params["max_updates"] == "12" and json.loads(found.tags["attend.changed_options"]) == {"max_updates": str(later)}


def test_an_option_that_mlflow_cut_has_not_changed(run, store, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRUNCATE_LONG_VALUES", "true")
    long = tmp_path / "long"
    shutil.copytree(run, long)
    page = (long / "report.html").read_text(encoding="utf-8")
    (long / "report.html").write_text(page.replace('"max_updates":12,', f'"max_updates":"{"long " * 2000}",'), encoding="utf-8")
    run_id = log_run(long, tracking_uri=store)
    assert log_run(long, tracking_uri=store) == run_id
    found = MlflowClient(store).get_run(run_id).data
    assert len(found.params["max_updates"]) < 10000 and "attend.changed_options" not in found.tags


def test_errors_are_told(run, store, tmp_path):
    with pytest.raises(attend.InputError, match=r"has no metrics\.jsonl"):
        log_run(tmp_path, tracking_uri=store)
    early = tmp_path / "early"
    shutil.copytree(run, early, ignore=shutil.ignore_patterns("timing.jsonl"))
    with pytest.raises(attend.InputError, match=r"report_every \(3\)"):
        log_run(early, tracking_uri=store)
    with pytest.raises(attend.RunError, match="MLflow: "):
        log_run(run, tracking_uri="nothing://nowhere")


def test_mlflow_is_named_where_it_is_missing(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ModuleNotFoundError, match=r"attend\.mlflow needs the package mlflow: pip install mlflow-skinny"):
        log_run(run)
