"""attend.mlflow: a run's figures in a store of files, each once."""

import fcntl
import json
import shutil
import subprocess
import sys
import threading
import time

import pytest
import tiny_run

pytest.importorskip("mlflow", reason="mlflow-skinny is not installed")
import attend.mlflow  # noqa: E402
from attend.mlflow import log_run, main  # noqa: E402
from mlflow import MlflowClient  # noqa: E402
from package import ENVIRONMENT  # noqa: E402


@pytest.fixture(name="prepared", scope="module")
def prepared_text(tmp_path_factory):
    return tiny_run.prepare(tmp_path_factory.mktemp("text"))


@pytest.fixture(name="options")
def keywords(prepared):
    return {name.replace(".", "__"): value for name, value in prepared.items()}


@pytest.fixture(name="run", scope="module")
def trained_run(prepared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    tiny_run.trained(prepared | {"test_source": prepared["valid_source"], "test_target": prepared["valid_target"]}, folder / "run")
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


def test_the_command_does_what_the_call_does(run, store, tmp_path, capsys):
    assert main([str(run), "--tracking-uri", store, "--experiment", "trial", "--follow", "9"]) == 0  # it is over
    assert capsys.readouterr() == (log_run(run, tracking_uri=store, experiment="trial") + "\n", "")
    assert main([str(tmp_path), "--tracking-uri", store]) == 3
    assert capsys.readouterr().err.startswith(f"attend.mlflow: '{tmp_path}' is no run")
    with pytest.raises(SystemExit, match="2"):
        main([str(run), "--follow", "0"])
    assert "--follow is 0, expected more than 0 seconds" in capsys.readouterr().err
    helped = subprocess.run([sys.executable, "-m", "attend.mlflow", "--help"], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert helped.stderr == "" and "example: python -m attend.mlflow my-model" in helped.stdout


def test_a_run_at_work_is_followed_until_it_is_over(run, store, tmp_path, capsys):
    work = tmp_path / "work"
    shutil.copytree(run, work, ignore=shutil.ignore_patterns("model", "result.json", "timing.jsonl", "report.html"))
    timing = (run / "timing.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    thread = threading.Thread(target=main, args=[[str(work), "--tracking-uri", store, "--follow", "0.1"]], daemon=True)
    with (work / "lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        thread.start()
        shutil.copy(run / "report.html", work)
        (work / "timing.jsonl").write_text(timing[0], encoding="utf-8")
        while not list((tmp_path / "store").glob("*/*/metrics/train/loss")):
            assert thread.is_alive(), capsys.readouterr()
            time.sleep(0.02)
        (work / "timing.jsonl").write_text("".join(timing), encoding="utf-8")
        shutil.copytree(run / "model", work / "model")
        shutil.copy(run / "result.json", work)
    thread.join(100)
    printed, errors = capsys.readouterr()
    assert errors == "" and MlflowClient(store).get_run(printed.strip()).info.status == "FINISHED"
    another = (tmp_path / "another").as_uri()
    whole, followed = history(another, log_run(run, tracking_uri=another)), history(store, printed.strip())
    assert {name: [point[:2] for point in points] for name, points in followed.items()} == {
        name: [point[:2] for point in points] for name, points in whole.items()}


def test_a_training_sends_its_run(options, store, tmp_path):
    result = attend.train(output=tmp_path / "run", quiet=True, mlflow=store, **options)
    where = MlflowClient(store).get_experiment_by_name("attend").experiment_id
    sent = [found.info for found in MlflowClient(store).search_runs([where])]
    assert [(info.run_id, info.status) for info in sent] == [(log_run(tmp_path / "run", tracking_uri=store), "FINISHED")]
    assert [point[0] for point in history(store, sent[0].run_id)["train/loss"]] == [3, 6, 9, 12]
    assert not any("MLflow" in warning for warning in result.warnings)


def test_a_training_is_not_stopped_by_mlflow(options, tmp_path, capfd):
    result = attend.train(output=tmp_path / "run", mlflow="nothing://nowhere", **options)
    assert result.updates == 12 and result.model.is_dir()
    told = [warning for warning in result.warnings if "MLflow: " in warning]
    assert told[-1].endswith(f"; `python -m attend.mlflow {tmp_path}/run --tracking-uri nothing://nowhere` sends what MLflow lacks")
    assert f"warning: {told[-1]}" in capfd.readouterr().err


def test_a_server_that_does_not_answer_is_left(run, monkeypatch):
    told, answers = [], threading.Event()
    monkeypatch.setattr(attend.mlflow, "log_run", lambda *_, **__: answers.wait())
    attend.mlflow.Follower(run, "http://nowhere", told.append).end(trained=True, most_seconds=0.01)
    answers.set()
    assert told == [f"MLflow has not answered for 0.01 s, and this program goes on sending while it runs; after that `python -m attend.mlflow {run} --tracking-uri http://nowhere` sends what MLflow lacks"]


def test_a_training_that_fails_says_why_alone(options, tmp_path, capfd):
    with pytest.raises(attend.ConfigurationError, match="dropout is 2"):
        attend.train(output=tmp_path / "run", mlflow=(tmp_path / "store").as_uri(), **options | {"dropout": 2})
    assert "MLflow" not in capfd.readouterr().err


def test_mlflow_for_a_training_is_asked_for_first(options, tmp_path, monkeypatch):
    with pytest.raises(attend.UsageError, match="mlflow= needs the run's directory as output="):
        attend.train(mlflow="nothing://nowhere", **options)
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ModuleNotFoundError, match="pip install mlflow-skinny"):
        attend.train(output=tmp_path / "run", mlflow="nothing://nowhere", **options)
    assert not (tmp_path / "run").exists()
