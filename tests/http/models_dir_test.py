"""Models that come and go in --models-dir, and shortlists by name."""

import json
import os
import shutil
import subprocess

import pytest
from server import ATTEND, MODEL, TEXT, VARIANT, command_line, copied_model, failed_start, serving


def names(server):
    return [model["name"] for model in server.get("/v1/models")["models"]]


def test_models_come_and_go(tmp_path):
    models = tmp_path / "models"
    shutil.copytree(MODEL, models / "first")
    (models / ".hidden").mkdir()
    (models / "notes.txt").write_text("no model", encoding="utf-8")
    with serving(tmp_path, "--models-dir", models, model=f"given={VARIANT}") as server:
        assert names(server) == ["given", "first"]
        copied_model(tmp_path / "new", ["su", "ka"]).rename(models / "second")
        assert "error" not in server.wait_for("load", 2)
        assert names(server) == ["given", "first", "second"]
        assert server.post("/translate", {"q": TEXT, "source": "su", "target": "ka"})[1]["translatedText"] == command_line(TEXT)[0]
        (models / "first").rename(models / ".gone")
        assert server.wait_for("unload")["model"] == "first"
        assert names(server) == ["given", "second"]
        assert server.post("/v1/translate", {"text": TEXT, "model": "first"})[0] == 400
        assert 'model="first"' not in "".join(
            line for line in server.request("GET", "/metrics")[2].splitlines() if line.startswith("attend_waiting_sentences"))
        (models / "second" / "config.json").unlink()
        assert server.wait_for("unload", 2)["model"] == "second"
        assert server.translate(TEXT, model="given")


def test_names_of_directories_may_have_any_bytes(tmp_path):
    models = tmp_path / "models"
    for name in (b"one two", b"100%", b"\xff"):
        shutil.copytree(os.fsencode(MODEL), os.path.join(os.fsencode(models), name))
    with serving(tmp_path, "--models-dir", models, model=None) as server:
        names = server.get("/openapi.json")["components"]["schemas"]["NativeRequest"]["properties"]["model"]["enum"]
        assert set(names) >= {"one two", "100%", "\ufffd"}
        for path, name in (("one%20two", "one two"), ("100%25", "100%"), ("100%", "100%"), ("%FF", "\ufffd")):
            status, _, text = server.request("GET", f"/v1/models/{path}")
            assert (status, json.loads(text).get("id")) == ((404, None) if path == "100%" else (200, name))


def test_a_model_copied_in_part_waits_for_the_rest(tmp_path):
    models = tmp_path / "models"
    models.mkdir()
    with serving(tmp_path, "--models-dir", models, model=None) as server:
        assert names(server) == [] and server.get("/health") == {"status": "ok"}
        assert server.post("/translate", {"q": TEXT, "target": "su"})[0] == 400
        assert server.get("/languages") == [] and server.get("/frontend/settings")
        weights = (MODEL / "model.safetensors").read_bytes()
        (models / "slow").mkdir()
        for file in MODEL.iterdir():
            if file.name != "model.safetensors":
                shutil.copy(file, models / "slow" / file.name)
        with open(models / "slow" / "model.safetensors", "wb") as copy:
            copy.write(weights[: len(weights) // 2])
            copy.flush()
            failed = server.wait_for("load")
            assert failed["model"] == "slow" and failed["level"] == "warning" and failed["error"]
            assert names(server) == []
            copy.write(weights[len(weights) // 2 :])
        assert "error" not in server.wait_for("load", 2)
        assert server.translate(TEXT)[0]["text"] == command_line(TEXT)[0]


def test_shortlists_belong_to_models_by_name(tmp_path):
    text = tmp_path / "text"
    text.write_text("lumi tavo keri\n" * 20, encoding="utf-8")
    subprocess.run([ATTEND, "shortlist", "--model", MODEL, "--source", text, "--target", text, "--frequent", "4", "--output", tmp_path / "list"],
                   check=True, capture_output=True, timeout=120)
    best = command_line("sona mipa", "--shortlist", tmp_path / "list")[0]
    assert best != command_line("sona mipa")[0]
    with serving(tmp_path, "--shortlist", f"short={tmp_path / 'list'}", "--model", f"short={MODEL}", model=f"full={MODEL}") as server:
        assert server.translate("sona mipa", model="short")[0]["text"] == best
        assert server.translate("sona mipa", model="full")[0]["text"] == command_line("sona mipa")[0]
    with serving(tmp_path, "--shortlist", tmp_path / "list") as server:
        assert server.translate("sona mipa")[0]["text"] == best


@pytest.mark.parametrize("arguments, error", [
    (["--models-dir", "/nowhere"], "expected a directory"), ([], "there is no model"),
    (["--model", str(MODEL), "--shortlist", "other=list"], "no model is named 'other', expected one of "),
    (["--model", str(MODEL), "--model", f"b={MODEL}", "--shortlist", "list"], "expected NAME=FILE")])
def test_wrong_options_are_refused(arguments, error):
    done = failed_start(*arguments)
    assert done.returncode == 2 and error in done.stderr
