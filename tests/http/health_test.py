"""`attend health`: what it says of a service that runs, of one that stops, and of addresses where none is."""

import contextlib
import signal
import socket
import subprocess
import threading

from server import ATTEND, ENDLESS, PATIENCE, TEXT, serving


def health(address, *options):
    done = subprocess.run([ATTEND, "health", "--address", address, *options], capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


@contextlib.contextmanager
def answering(answer):
    """The address of a server that answers its first connection with these bytes; of None, never."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with contextlib.suppress(OSError), listener.accept()[0] as connection:
                connection.recv(65536)
                if answer is None:
                    connection.recv(65536)  # until the client gives up
                else:
                    connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    thread.join(PATIENCE)


def test_a_running_service_is_healthy_at_both_addresses(tmp_path):
    with serving(tmp_path, "--metrics-address", "127.0.0.1:0") as server:
        assert health(f"127.0.0.1:{server.port}") == (0, '{"status":"ok"}\n', "")
        metrics_port = server.wait_for("listening")["metrics_port"]
        assert health(f"localhost:{metrics_port}") == (0, '{"status":"ok"}\n', "")


def test_a_service_that_stops_is_not(tmp_path):
    with serving(tmp_path, "--stop-timeout", 60) as server, server.connect() as connection:
        connection.sendall(server.post_bytes("/v1/translate", {"text": TEXT, **ENDLESS}))
        server.wait_for_metric("attend_live_sentences", 1)
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("stopping")
        status, out, error = health(f"127.0.0.1:{server.port}")
        assert (status, out) == (1, "") and error.startswith("attend: ")


def test_where_nothing_listens():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    status, out, error = health(address)
    assert (status, out) == (1, "")
    assert error == f"attend: can't ask {address}: Connection refused; is `attend serve` running there?\n"


def test_another_status_is_said():
    with answering(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n") as address:
        assert health(address) == (1, "", f"attend: {address} answered with status 503, expected 200\n")


def test_silence_ends_in_time():
    with answering(None) as address:
        assert health(address, "--timeout", "0.3") == (1, "", f"attend: no answer from {address} within 0.3 seconds\n")


def test_what_is_no_http_is_an_error():
    for answer in (b"SSH-2.0-server\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", b""):
        with answering(answer) as address:
            status, out, error = health(address)
            assert (status, out) == (1, "") and error.startswith(f"attend: can't ask {address}: ")


def test_an_answer_drives_no_terminal():
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\x1b[31m") as address:
        assert health(address) == (0, "\\u001B[31m\n", "")
