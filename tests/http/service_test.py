"""Overload, deadlines, clients that leave, stop, reload, metrics and logs."""

import http.client
import json
import shutil
import signal
import threading
import time

import pytest
from server import ENDLESS, SECONDS_LONG, MODEL, PATIENCE, TEXT, VARIANT, command_line, copied_model, serving


@pytest.fixture(name="server", scope="module")
def run_server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("serve")) as server:
        yield server


class Asking(threading.Thread):
    """A request on its way; `answer` is its status and JSON in the end."""

    def __init__(self, server, body):
        super().__init__(daemon=True)
        self.server, self.body, self.answer = server, body, None
        self.start()

    def run(self):
        self.answer = self.server.post("/v1/translate", self.body)


def test_a_client_that_leaves_leaves_the_batch(server):
    body = {"text": TEXT, **ENDLESS}
    for request in (body, {**body, "stream": True}):
        with server.connect() as connection:
            connection.sendall(server.post_bytes("/v1/translate", request))
            server.wait_for_metric("attend_live_sentences", 1)
        server.wait_for_metric("attend_live_sentences", 0)


def test_a_deadline_ends_a_request_and_its_work(server):
    begun = time.monotonic()
    status, answer = server.post("/v1/translate", {"text": TEXT, "deadline_ms": 200, **ENDLESS})
    assert status == 504 and "deadline" in answer["error"]
    assert time.monotonic() - begun < PATIENCE / 4
    server.wait_for_metric("attend_live_sentences", 0)


def test_what_finds_no_room_is_told_to_come_again(tmp_path):
    room = ("--queue-sentences", 4, "--max-sentences", 4, "--threads", 1, "--batch-sentences", 1)
    with serving(tmp_path, *room) as server:
        first = server.connect()
        first.sendall(server.post_bytes("/v1/translate", {"text": TEXT, **ENDLESS}))
        server.wait_for_metric("attend_live_sentences", 1)
        bulk = Asking(server, {"text": "Lumi. Tavo.", "priority": "bulk"})
        server.wait_for_metric("attend_waiting_sentences", 2)
        status, headers, text = server.request(
            "POST", "/v1/translate", json.dumps({"text": "Lumi. Tavo. Keri."}), {"Content-Type": "application/json"})
        assert (status, headers["Retry-After"]) == (503, "1") and "waiting" in text
        assert server.post("/v1/translate", {"text": "Lumi. Tavo. Keri.", "stream": True})[0] == 503
        urgent = Asking(server, {"text": "Keri. Lumi.", "priority": "interactive"})
        server.wait_for_metric("attend_waiting_sentences", 4)
        first.close()  # makes room for the others
        for asked in (bulk, urgent):
            asked.join(PATIENCE)
            assert asked.answer[0] == 200
        answered = [event for event in server.events() if event.get("status") == 200 and event["route"] == "/v1/translate"]
        assert len(answered) == 2


def test_a_long_text_holds_nobody_up(tmp_path):
    """Four bodies that take seconds to divide, beside small ones."""
    line = " ".join(f"Lumi tavo {i}." for i in range(55000))
    with serving(tmp_path, "--max-sentences", 4096) as server:
        asked = [Asking(server, {"text": line, "split_sentences": False, "deadline_ms": 6000}) for _ in range(4)]
        begun = time.monotonic()
        while all(one.is_alive() for one in asked) and time.monotonic() - begun < 3:
            before = time.monotonic()
            assert server.get("/health") == {"status": "ok"}
            assert server.translate(TEXT)
            assert time.monotonic() - before < 1.5
        for one in asked:
            one.join(PATIENCE)
            assert one.answer[0] == 504


def test_a_client_that_asks_too_often_is_told_when_to_come_again(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("one\ntwo\n", encoding="utf-8")
    body = json.dumps({"text": TEXT})
    with serving(tmp_path, "--request-limit", 3, "--api-keys", keys) as server:
        def ask(key, path="/v1/translate"):
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
            return server.request("POST", path, body, headers)

        assert [ask("one")[0] for _ in range(5)] == [200] * 3 + [429] * 2
        status, headers, text = ask("one")
        assert status == 429 and 1 <= int(headers["Retry-After"]) <= 20 and "too many requests" in text
        assert ask("one", "/translate")[0] == ask("one", "/detect")[0] == 429
        assert ask("two")[0] == 200  # another client
        assert [ask(f"guess {i}")[0] for i in range(2)] == [403] * 2  # by address
        assert [server.request("POST", "/translate", "{", {"Content-Type": "application/json"})[0] for _ in range(3)] == [403, 429, 429]
        assert server.post("/translate", {"q": TEXT, "target": "su", "api_key": "two"})[0] == 200
        assert ask("two")[0] == server.request("GET", "/health")[0] == 200
    with serving(tmp_path, "--request-limit", 2) as server:
        assert [server.post("/v1/translate", {"text": TEXT})[0] for _ in range(3)] == [200, 200, 429]


def test_interactive_requests_go_before_bulk(tmp_path):
    with serving(tmp_path, "--threads", 1, "--batch-sentences", 1) as server:
        first = server.connect()
        first.sendall(server.post_bytes("/v1/translate", {"text": TEXT, **ENDLESS}))
        server.wait_for_metric("attend_live_sentences", 1)
        ended = []

        def ask(priority, text, options):
            assert server.post("/v1/translate", {"text": text, "priority": priority, **options})[0] == 200
            ended.append(priority)

        threads = []
        # The first is long, so that the answers are as far apart as the order in which they were made.
        for priority, text, options, waiting in (("bulk", "Lumi. Tavo. Keri.", SECONDS_LONG, 3), ("interactive", "Keri.", {}, 4)):
            threads.append(threading.Thread(target=ask, args=(priority, text, options)))
            threads[-1].start()
            server.wait_for_metric("attend_waiting_sentences", waiting)
        first.close()
        for thread in threads:
            thread.join(PATIENCE)
        assert ended == ["interactive", "bulk"]


def test_a_stop_answers_what_was_accepted_and_takes_nothing_new(tmp_path):
    with serving(tmp_path, "--stop-timeout", PATIENCE) as server:
        idle = server.connect()
        asked = Asking(server, {"text": TEXT, **SECONDS_LONG})
        server.wait_for_metric("attend_live_sentences", 1)
        assert server.stop() == 0
        asked.join(PATIENCE)
        assert asked.answer[0] == 200
        assert idle.recv(1) == b""
        assert server.events()[-1]["event"] == "stopped"


def test_a_stop_gives_up_what_takes_too_long(tmp_path):
    with serving(tmp_path, "--stop-timeout", 0.2) as server:
        with server.connect() as connection:
            connection.sendall(server.post_bytes("/v1/translate", {"text": TEXT, **ENDLESS}))
            server.wait_for_metric("attend_live_sentences", 1)
            assert server.stop() == 0
    with serving(tmp_path) as server, server.connect() as connection:
        connection.sendall(server.post_bytes("/v1/translate", {"text": TEXT, **ENDLESS}))
        server.wait_for_metric("attend_live_sentences", 1)
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("stopping")
        assert server.stop() == 0  # a second one does not wait


def test_a_model_that_is_replaced_is_loaded_again_without_losing_a_request(tmp_path):
    model = tmp_path / "model"
    shutil.copytree(MODEL, model)
    with serving(tmp_path, model=f"one={model}") as server:
        assert server.translate(TEXT, model="one")[0]["text"] == command_line(TEXT)[0]
        asked = Asking(server, {"text": TEXT, **SECONDS_LONG})
        server.wait_for_metric("attend_live_sentences", 1)
        shutil.copytree(VARIANT, tmp_path / "next")
        model.rename(tmp_path / "old")
        (tmp_path / "next").rename(model)
        assert server.wait_for("reload")["model"] == "one"
        asked.join(PATIENCE)
        assert asked.answer[0] == 200
        assert server.translate(TEXT)[0]["text"] != command_line(TEXT)[0]
        assert server.get("/v1/models")["models"][0]["name"] == "one"


def test_a_model_may_be_replaced_file_by_file(tmp_path):
    model = tmp_path / "model"
    shutil.copytree(MODEL, model)
    with serving(tmp_path, model=model) as server:
        for file in sorted(VARIANT.iterdir()):  # config.json first
            shutil.copy(file, tmp_path / "next")
            (tmp_path / "next").rename(model / file.name)
            if file.name == "config.json":
                assert "error" in server.wait_for("reload")  # the rest is late
        assert "error" not in server.wait_for("reload", 2)
        assert server.translate(TEXT)[0]["text"] == command_line(TEXT, model=VARIANT)[0] != command_line(TEXT)[0]


def test_a_reload_that_fails_keeps_the_model_that_runs(tmp_path):
    model, keys = tmp_path / "model", tmp_path / "keys"
    shutil.copytree(MODEL, model)
    keys.write_text("old\n", encoding="utf-8")
    with serving(tmp_path, "--api-keys", keys, model=model) as server:
        (model / "config.json").write_text("{", encoding="utf-8")
        keys.write_text("new\n", encoding="utf-8")
        server.process.send_signal(signal.SIGHUP)
        event = server.wait_for("reload")
        assert event["level"] == "warning" and "config.json" in event["error"]
        status, answer = server.post("/v1/translate", {"text": TEXT}, {"Authorization": "Bearer new"})
        assert status == 200 and answer["translations"][0]["text"] == command_line(TEXT)[0]
        assert server.post("/v1/translate", {"text": TEXT}, {"Authorization": "Bearer old"})[0] == 403
        assert server.metric("attend_reloads_total") == 1


def test_several_models_answer_by_name_and_by_languages(tmp_path):
    other = copied_model(tmp_path / "other", ["su", "ka"], of=VARIANT)
    with serving(tmp_path, "--model", other) as server:
        assert [model["name"] for model in server.get("/v1/models")["models"]] == ["ka-su", "su-ka"]
        ours = command_line(TEXT)[0]
        assert server.translate(TEXT, model="ka-su")[0]["text"] == ours
        assert server.translate(TEXT, target="su")[0]["text"] == ours
        assert server.translate(TEXT, source="auto", target="ka")[0]["text"] != ours
        status, answer = server.post("/v1/translate", {"text": TEXT})
        assert status == 400 and "several models fit a request that names none; expected one of " in answer["error"]
        assert server.post("/translate", {"q": TEXT, "source": "auto", "target": "su"})[1]["translatedText"] == ours
        assert [one["targets"] for one in server.get("/languages")] == [["su"], ["ka"]]


def test_metrics_count_what_was_done(tmp_path):
    with serving(tmp_path) as server:
        server.translate("Lumi tavo. Keri.")
        server.post("/v1/translate", {"text": 3})
        server.request("GET", f"/{TEXT.replace(' ', '%20')}")
        assert server.metric("attend_sentences_total") == 2
        assert server.metric("attend_pieces_total") > 4
        text = server.request("GET", "/metrics")[2]
        for line in ('attend_requests_total{route="/v1/translate",status="200"} 1',
                     'attend_requests_total{route="/v1/translate",status="400"} 1',
                     'attend_requests_total{route="other",status="404"} 1',
                     'attend_request_seconds_count{route="/v1/translate"} 2',
                     'attend_batch_fill{model="ka-su"} 0'):
            assert line in text.splitlines()
        assert "lumi" not in text


def test_logs_hold_no_text_unless_asked(tmp_path):
    for arguments, held in (((), False), (("--log-text",), True)):
        with serving(tmp_path, *arguments) as server:
            server.translate("lumi tavo")
            server.post("/v1/translate", {"text": "lumi tavo", "beam_size": "lumi"})
            server.request("GET", "/lumi?q=lumi")
            server.wait_for("request", 3)
            assert ("lumi" in server.log.read_text(encoding="utf-8")) is held
            first = next(event for event in server.events() if event["event"] == "request")
            assert (first["route"], first["status"], first["model"], first["sentences"]) == ("/v1/translate", 200, "ka-su", 1)


def test_two_requests_share_a_connection(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    for _ in range(3):
        connection.request("POST", "/v1/translate", json.dumps({"text": TEXT}), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 200 and json.loads(answer.read())["translations"]
    connection.close()
