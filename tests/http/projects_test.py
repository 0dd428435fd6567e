"""Projects: corrections are kept, an adapter is trained on them in the background, and nothing is lost by a kill."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest
from server import ATTEND, BUILD, MODEL, TEXT, VARIANT, command_line, failed_start, serving, wait_until

RECIPE = """
adapter.rank = 2
batch_tokens = 64
schedule = "constant"
peak_learning_rate = 0.01
warmup_updates = 0
max_updates = {updates}
"""
TARGET = "mipa mipa mipa"


@pytest.fixture(name="options")
def write_options(tmp_path):
    (tmp_path / "projects").mkdir()
    (tmp_path / "recipe.toml").write_text(RECIPE.format(updates=4), encoding="utf-8")
    return ["--projects", tmp_path / "projects", "--adaptation-recipe", tmp_path / "recipe.toml", "--adaptation-pause", "0.1"]


def correct(server, project="acme", source=TEXT, target=TARGET, **more):
    status, answer = server.post("/v1/corrections", {"project": project, "source": source, "target": target, **more})
    assert status == 200, answer
    return answer


def project(server, name="acme"):
    return server.get(f"/v1/projects/{name}")


def idle(server, versions, name="acme"):
    """The project's state once it has so many versions and nothing to learn."""
    def look():
        state = project(server, name)
        assert "error" not in state, state
        return state if state["state"] == "idle" and len(state["versions"]) == versions else None
    return wait_until(look, f"version {versions}")


def names(server):
    return [model["name"] for model in server.get("/v1/models")["models"]]


needs_trainer = pytest.mark.skipif(not (BUILD / "attend-train").exists(), reason="built without attend-train")


@needs_trainer
def test_an_adapter_is_trained_served_taken_back_and_deleted(tmp_path, options):
    with serving(tmp_path, *options, model=f"base={MODEL}") as server:
        assert server.get("/v1/projects") == {"projects": []}
        plain = server.translate(TEXT)
        state = correct(server)
        assert (state["corrections"], state["model"], state["served_as"], state["current"]) == (1, "base", "base/acme", 0)
        state = idle(server, 1)
        assert state["current"] == 1 and state["versions"][0]["corrections"] == 1
        assert server.wait_for("adapted")["project"] == "acme"
        wait_until(lambda: "base/acme" in names(server), "the adapter")
        adapter = tmp_path / "projects/acme/versions/1/adapter"
        [expected] = command_line(TEXT, "--adapter", adapter)
        assert server.translate(TEXT, model="base/acme")[0]["text"] == expected
        assert server.translate(TEXT) == server.translate(TEXT, model="base") == plain
        correct(server, source=["sona mipa", "tavo"], target=["lumi", "keri keri"], model="base/acme")  # as it is served
        assert idle(server, 2)["versions"][1]["corrections"] == 3
        assert server.wait_for("reload")["model"] == "base/acme"
        [expected] = command_line(TEXT, "--adapter", tmp_path / "projects/acme/current")
        assert server.translate(TEXT, model="base/acme")[0]["text"] == expected
        # Back to the first version, and to none.
        status, state = server.post("/v1/projects/acme", {"version": 1})
        assert (status, state["current"]) == (200, 1)
        assert server.wait_for("reload", 2)["model"] == "base/acme"
        status, answer = server.post("/v1/projects/acme", {"version": 3})
        assert status == 400 and "expected one of 1 to 2, or 0 for none" in answer["error"]
        assert server.post("/v1/projects/acme", {"version": 0})[1]["current"] == 0
        assert server.wait_for("unload")["model"] == "base/acme"
        assert names(server) == ["base"] and project(server)["corrections"] == 3
        assert server.post("/v1/projects/acme", {"version": 2})[1]["current"] == 2
        wait_until(lambda: "base/acme" in names(server), "the adapter")
        assert server.request("DELETE", "/v1/projects/acme")[0] == 200
        assert server.wait_for("unload", 2)["model"] == "base/acme"
        assert list((tmp_path / "projects").iterdir()) == []
        assert server.request("GET", "/v1/projects/acme")[0] == 404


@needs_trainer
def test_a_service_that_is_killed_while_it_trains_loses_nothing(tmp_path, options):
    with serving(tmp_path, *options, model=f"base={MODEL}") as server:
        correct(server)
        idle(server, 1)
        kept = server.get("/v1/projects")["projects"][0]["versions"]
        (tmp_path / "recipe.toml").write_text(RECIPE.format(updates=1_000_000), encoding="utf-8")
        correct(server, source="sona", target="mipa")
        wait_until(lambda: project(server)["state"] == "training", "training")
        run = tmp_path / "projects/acme/.training/run"
        wait_until(run.exists, "the run")
        assert running("projects/acme/.training", tmp_path)
        server.process.kill()
        server.process.wait()
    # The training ended with it.
    wait_until(lambda: not running("projects/acme/.training", tmp_path), "the end of the training")
    log = tmp_path / "projects/acme/corrections.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"time":1,"source":"cut')  # as a kill may leave it
    (tmp_path / "recipe.toml").write_text(RECIPE.format(updates=4), encoding="utf-8")
    with serving(tmp_path, *options, model=f"base={MODEL}") as server:
        assert "base/acme" in names(server)
        state = idle(server, 2)
        assert state["corrections"] == 2 and state["versions"][0] == kept[0] and state["versions"][1]["corrections"] == 2
        assert log.read_bytes() == whole
        assert [json.loads(line)["target"] for line in whole.decode().splitlines()] == [TARGET, "mipa"]
        assert not run.exists()


def running(part, folder):
    """Processes whose command line names the folder's part."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{folder}/{part}".encode() in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


@needs_trainer
def test_a_training_that_fails_leaves_what_there_is(tmp_path, options):
    with serving(tmp_path, *options, model=f"base={MODEL}") as server:
        correct(server)
        idle(server, 1)
        wait_until(lambda: "base/acme" in names(server), "the adapter")
        (tmp_path / "recipe.toml").write_text("no_such_option = 1\n", encoding="utf-8")
        correct(server, source="sona", target="mipa")
        state = wait_until(lambda: (found := project(server)).get("error") and found, "the error")
        assert "no_such_option" in state["error"] and (state["current"], state["state"]) == (1, "idle")
        assert server.wait_for("adapted", 2)["level"] == "warning"
        assert len(server.translate(TEXT, model="base/acme")) == 1
        (tmp_path / "recipe.toml").write_text(RECIPE.format(updates=4), encoding="utf-8")
        correct(server, source="tavo", target="mipa")
        assert wait_until(lambda: (found := project(server))["current"] == 2 and found, "the next version")["corrections"] == 3
        assert "error" not in project(server)


@needs_trainer
def test_a_project_is_deleted_while_it_is_trained(tmp_path, options):
    (tmp_path / "recipe.toml").write_text(RECIPE.format(updates=1_000_000), encoding="utf-8")
    with serving(tmp_path, *options, model=f"base={MODEL}") as server:
        correct(server)
        wait_until(lambda: project(server)["state"] == "training", "training")
        correct(server, project="bolt")  # waits for its turn
        assert server.request("DELETE", "/v1/projects/acme")[0] == 200
        wait_until(lambda: project(server, "bolt")["state"] == "training", "the next project's training")
        assert [path.name for path in (tmp_path / "projects").iterdir()] == ["bolt"]
        assert server.stop() == 0
    assert not running("projects", tmp_path)


def test_without_the_training_program_corrections_are_kept(tmp_path, options):
    alone = tmp_path / "bin/attend"
    alone.parent.mkdir()
    alone.write_bytes(ATTEND.read_bytes())
    alone.chmod(0o755)
    with serving(tmp_path, *options, program=alone) as server:
        state = correct(server)
        assert "needs the program attend-train" in state["error"] and state["corrections"] == 1
    assert json.loads((tmp_path / "projects/acme/corrections.jsonl").read_text(encoding="utf-8"))["target"] == TARGET


def test_what_is_wrong_is_refused(tmp_path, options):
    with serving(tmp_path, *options[:-1], "3600", "--max-corrections", 3, "--max-projects", 2,
                 "--model", f"variant={VARIANT}", model=f"base={MODEL}") as server:
        def refused(expected, status=400, **body):
            found, answer = server.post("/v1/corrections", {"project": "acme", "source": TEXT, "target": TARGET, "model": "base"} | body)
            assert found == status and expected in answer["error"], answer

        for name in ("", "../acme", ".acme", "a/b", "x" * 65, "ä"):
            refused("expected up to 64 letters", project=name)
        refused("a model is named 'base' already", project="base")
        refused("there are 2 sources and 1 targets", source=["a", "b"])
        refused("there are 0 corrections", source=[], target=[])
        refused("a target is empty", target=" \n")
        refused("a source has 10001 characters", source="a" * 10001)
        refused("no model fits", model="none")
        refused("unknown", modl="base")
        assert server.get("/v1/projects") == {"projects": []} and list((tmp_path / "projects").iterdir()) == []
        correct(server, source="a\nb", target="c\td", model="base")
        assert json.loads((tmp_path / "projects/acme/corrections.jsonl").read_text(encoding="utf-8"))["source"] == "a b"
        refused("is for the model 'base', and the request's is 'variant'", model="variant")
        refused("has 1 corrections, expected at most 3 with the 3 of this request", source=["a"] * 3, target=["b"] * 3)
        correct(server, project="bolt", model="variant")
        refused("there are 2 projects already", project="coil")
        assert server.request("DELETE", "/v1/projects/none")[0] == server.post("/v1/projects/none", {"version": 1})[0] == 404
        assert server.post("/v1/projects/acme", {})[0] == 400
        status, answer = server.post("/v1/projects/acme", {"version": 1})
        assert status == 400 and "expected 0: there is none yet" in answer["error"]
        assert [each["state"] for each in server.get("/v1/projects")["projects"]] == ["waiting", "waiting"]
        # Another service can't write to the same projects.
        done = failed_start("--model", MODEL, *options)
        assert done.returncode == 2 and "is being written by another process" in done.stderr
    with serving(tmp_path, model=f"base={MODEL}") as server:
        assert server.post("/v1/corrections", {"project": "acme", "source": "a", "target": "b"})[0] == 404


def test_a_project_is_no_other_s_temporary_directory(tmp_path, options):
    projects = tmp_path / "projects"
    for leftover in ("b.attend-tmp", ".old.gone"):
        (projects / leftover).mkdir()
    with serving(tmp_path, *options[:-1], "3600") as server:
        assert list(projects.iterdir()) == []
        status, answer = server.post("/v1/corrections", {"project": "a.attend-tmp", "source": TEXT, "target": TARGET})
        assert status == 400 and "expected up to 64 letters" in answer["error"]
        (projects / "acme").mkdir()  # restored by hand
        (projects / "acme/corrections.jsonl").write_text("kept\n", encoding="utf-8")
        status, answer = server.post("/v1/corrections", {"project": "acme", "source": TEXT, "target": TARGET})
        assert status == 400 and "is there already" in answer["error"]
        assert (projects / "acme/corrections.jsonl").read_text(encoding="utf-8") == "kept\n"
        assert server.get("/v1/projects") == {"projects": []}


def test_a_damaged_project_is_told_of_and_others_go_on(tmp_path, options):
    with serving(tmp_path, *options[:-1], "3600") as server:
        correct(server)
        correct(server, project="bolt")
        server.stop()
    (tmp_path / "projects/acme/corrections.jsonl").write_text("no JSON\n", encoding="utf-8")
    with serving(tmp_path, *options[:-1], "3600") as server:
        damaged, whole = server.get("/v1/projects")["projects"]
        assert damaged["state"] == "damaged" and "corrections.jsonl:1" in damaged["error"] and whole["corrections"] == 1
        status, answer = server.post("/v1/corrections", {"project": "acme", "source": TEXT, "target": TARGET})
        assert status == 400 and "corrections.jsonl:1" in answer["error"]
        assert server.post("/v1/projects/acme", {"version": 0})[0] == 400
        assert correct(server, project="bolt")["corrections"] == 2
        assert server.request("DELETE", "/v1/projects/acme")[0] == 200
        assert correct(server)["corrections"] == 1


def test_what_training_would_refuse_is_refused(tmp_path, options):
    with serving(tmp_path, *options[:-1], "3600") as server:
        for text in ("%PDF-1.7", "PK\x03\x04 x"):
            for body in ({"source": text, "target": TARGET}, {"source": TEXT, "target": text}):
                status, answer = server.post("/v1/corrections", {"project": "acme", **body})
                assert status == 400 and "expected text" in answer["error"], answer


def test_a_folder_that_is_none_is_an_error_of_usage(tmp_path):
    done = failed_start("--model", MODEL, "--projects", tmp_path / "none")
    assert done.returncode == 2 and "expected a directory" in done.stderr, done


def test_a_recipe_that_is_not_there_is_an_error_of_usage(tmp_path):
    done = failed_start("--model", MODEL, "--projects", tmp_path, "--adaptation-recipe", tmp_path / "none.toml")
    assert done.returncode == 2 and "adaptation_recipe is '" in done.stderr and "expected a file" in done.stderr, done


@pytest.mark.parametrize("given", [
    ["--adaptation-pause", 5], ["--adaptation-recipe", "r.toml"], ["--max-corrections", 9], ["--memory-source", "ka"],
    ["--document-count", 2, "--documents", "off"]])
def test_options_that_do_nothing_are_refused(given):
    done = failed_start("--model", MODEL, *given)
    assert done.returncode == 2 and f"{given[0][2:].replace('-', '_')} is given, but does nothing without" in done.stderr, done


@needs_trainer
def test_a_training_has_no_connections_and_an_end(tmp_path, options):
    (tmp_path / "recipe.toml").write_text(RECIPE.format(updates=1_000_000), encoding="utf-8")
    with serving(tmp_path, *options, "--adaptation-timeout", "3") as server, server.connect():
        server.get("/v1/projects")
        correct(server)
        wait_until(lambda: project(server)["state"] == "training", "training")
        for process in wait_until(lambda: running("projects/acme/.training", tmp_path), "the process"):
            files = [os.readlink(each) for each in (pathlib.Path("/proc") / process / "fd").iterdir()]
            assert not any("socket" in name for name in files), files
        state = wait_until(lambda: (found := project(server)).get("error") and found, "the error")
        assert "took more than 3 s" in state["error"] and state["state"] == "idle"
        assert not running("projects/acme/.training", tmp_path)


@needs_trainer
def test_an_adapter_of_two_equal_models_is_of_the_project_s(tmp_path, options):
    with serving(tmp_path, *options, "--model", f"second={MODEL}", model=f"first={MODEL}") as server:
        assert correct(server, model="second")["served_as"] == "second/acme"
        idle(server, 1)
        wait_until(lambda: "second/acme" in names(server), "the adapter")


@needs_trainer
def test_a_project_may_have_the_name_of_a_directory_of_models(tmp_path, options):
    """An adapter of another model, which is another one to clients."""
    other = tmp_path / "other"
    subprocess.run([ATTEND, "extend", MODEL, "--token", "quokka", "--output", other, "--quiet"], check=True)
    with serving(tmp_path, *options, model=f"other={other}") as server:
        correct(server)
        idle(server, 1)
    (tmp_path / "models").mkdir()
    (tmp_path / "projects/acme/versions/1/adapter").rename(tmp_path / "models/acme")
    shutil.rmtree(tmp_path / "projects/acme")
    served = ["--model", f"base={MODEL}", "--model", f"other={other}", "--models-dir", tmp_path / "models"]
    with serving(tmp_path, *options, *served, model=None) as server:
        assert sorted(names(server)) == ["base", "other", "other/acme"]
        assert correct(server, model="base")["served_as"] == "base/acme"
        idle(server, 1)
        wait_until(lambda: sorted(names(server)) == ["base", "base/acme", "other", "other/acme"], "the adapter")


def test_a_key_is_needed(tmp_path, options):
    (tmp_path / "keys").write_text("alice: secret\n", encoding="utf-8")
    with serving(tmp_path, *options[:-1], "3600", "--api-keys", tmp_path / "keys") as server:
        body = {"project": "acme", "source": TEXT, "target": TARGET}
        assert server.post("/v1/corrections", body)[0] == server.request("GET", "/v1/projects")[0] == 403
        assert server.request("DELETE", "/v1/projects/acme")[0] == 403
        assert server.post("/v1/corrections", body, {"Authorization": "Bearer secret"})[0] == 200
