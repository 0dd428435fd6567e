"""Bugs of threads that users could meet: of the service here, of the Python package in python/tests/process_test.py."""

import contextlib
import http.client
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))

from server import ENDLESS, TEXT, command_line, copied_model, serving  # noqa: E402


def threads_of(server):
    return len(list(pathlib.Path(f"/proc/{server.process.pid}/task").iterdir()))


def with_models(folder, count):
    copied_model(folder / "copy", ["en", "de"])
    return [argument for number in range(count) for argument in ("--model", f"more-{number}={folder / 'copy'}")]


# 30 models made 35 threads.
def test_models_share_the_threads(tmp_path):
    (tmp_path / "one").mkdir()
    with serving(tmp_path / "one") as server:
        alone = threads_of(server)
        server.stop()
    with serving(tmp_path, *with_models(tmp_path, 12)) as server:
        assert threads_of(server) == alone
        for number in range(12):
            assert server.translate(TEXT, model=f"more-{number}")[0]["text"] == command_line(TEXT)[0]
        assert threads_of(server) == alone
        assert server.stop() == 0


# A model that is busy leaves the others their time.
def test_a_busy_model_does_not_block_the_others(tmp_path):
    with serving(tmp_path, "--stop-timeout", 0.1, *with_models(tmp_path, 1)) as server:
        def keep_busy():
            with contextlib.suppress(OSError, http.client.HTTPException):
                server.post("/v1/translate", {"text": [TEXT] * 100, "model": "more-0", **ENDLESS})

        busy = threading.Thread(target=keep_busy)
        busy.start()
        server.wait_for_metric("attend_live_sentences", 100)
        assert server.translate(TEXT, model="ka-su")[0]["text"] == command_line(TEXT)[0]
        assert busy.is_alive()
        assert server.stop() == 0
        busy.join()
