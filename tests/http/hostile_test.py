"""Clients that mean harm, or are broken: each gets a clear answer or none, and the service goes on."""

import json
import random
import re
import time

import pytest
from hostile_requests import DOUBTFUL_HEADS, NO_JSON, NO_REQUESTS, damaged, json_post, smuggling
from server import TEXT, serving


@pytest.fixture(name="server", scope="module")
def run_server(tmp_path_factory):
    arguments = ("--max-body-bytes", 20000, "--max-header-bytes", 4096, "--read-timeout", 2, "--idle-timeout", 4)
    with serving(tmp_path_factory.mktemp("serve"), *arguments) as server:
        yield server
        assert server.get("/health") == {"status": "ok"}
        assert server.process.poll() is None


def statuses(received):
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", received)]


@pytest.mark.parametrize("path", [
    "/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/v1/../../../etc/passwd", "//etc/passwd",
    "/health/../etc/passwd", "/health%00", "/health/", "/HEALTH", "/v1/translate/../models", "/.git/config", "/\\..\\..\\etc",
])
def test_no_path_leads_out(server, path):
    received = server.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert statuses(received) in ([404], [400])
    assert b"root:" not in received


def test_no_header_is_injected(server):
    marks = "\r\nX-Injected: yes\r\n\r\n<b>"
    for name in ("model", "source", "target"):
        status, headers, text = server.request(
            "POST", "/v1/translate", json.dumps({"text": TEXT, name: marks}), {"Content-Type": "application/json"})
        assert status == 400 and headers["X-Injected"] is None
        assert "\r" not in text and headers["Content-Type"] == "application/json"
    received = server.raw(b"GET /x%0d%0aX-Injected:%20yes HTTP/1.1\r\nHost: localhost\r\nOrigin: a%0d%0aX-Injected: yes\r\nConnection: close\r\n\r\n")
    assert statuses(received) == [404] and b"X-Injected" not in received


@pytest.mark.parametrize("head", DOUBTFUL_HEADS)
def test_no_second_request_hides_in_a_body(server, head):
    received = server.raw(smuggling(head))
    assert len(statuses(received)) == 1 and statuses(received)[0] in (400, 413, 415, 501), received
    assert not any(event.get("status") == 404 for event in server.events()[-1:])


@pytest.mark.parametrize("request_bytes", NO_REQUESTS)
def test_what_is_no_request_gets_400_at_most(server, request_bytes):
    assert statuses(server.raw(request_bytes)) in ([400], [])


def test_what_is_too_large_is_refused(server):
    head = b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    assert statuses(server.raw(head + b"Content-Length: 20001\r\n\r\n")) == [413]
    assert statuses(server.raw(head + b"Content-Length: 30000\r\n\r\n" + b"x" * 30000)) == [413]
    chunk = b"3e8\r\n" + b"x" * 1000 + b"\r\n"
    assert statuses(server.raw(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 30)) == [413]
    assert statuses(server.raw(head + b"X: " + b"y" * 5000 + b"\r\n\r\n")) == [431]
    assert statuses(server.raw(b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")) == [431]
    expected = head + b"Content-Length: 30000\r\nExpect: 100-continue\r\n\r\n"
    assert statuses(server.raw(expected)) == [413]


def test_a_client_that_waits_for_100_is_told_to_go_on(server):
    body = json.dumps({"text": TEXT}).encode()
    with server.connect() as connection:
        connection.sendall(b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                           b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("start", [
    b"", b"G", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ", b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
])
def test_slow_clients_are_closed_and_hold_nobody_up(server, start):
    slow = [server.connect() for _ in range(40)]
    for connection in slow:
        connection.sendall(start)
    begun = time.monotonic()
    assert server.get("/health") == {"status": "ok"}
    for connection in slow[:2]:
        connection.settimeout(30)
        try:
            for _ in range(100):  # a byte now and then wins no time
                connection.sendall(b"a")
                time.sleep(0.2)
        except OSError:
            pass
        else:
            raise AssertionError("the connection stays open")
    assert time.monotonic() - begun < 60
    for connection in slow:
        connection.close()


@pytest.mark.parametrize("body", NO_JSON)
def test_what_is_no_json_of_ours_gets_400(server, body):
    for path in ("/v1/translate", "/translate"):
        status, _, text = server.request("POST", path, body, {"Content-Type": "application/json"})
        assert status == 400 and list(json.loads(text)) == ["error"]


def test_a_thousand_damaged_requests_do_no_harm(server):
    rng = random.Random(7)
    good = json_post("/v1/translate", json.dumps({"text": TEXT, "n_best": 2}).encode())
    for _ in range(1000):
        with server.connect() as connection:
            connection.sendall(damaged(good, rng))  # and leave without waiting
    assert server.translate(TEXT)[0]["text"]


def test_pipelined_requests_are_answered_in_order(server):
    two = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" + b"GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert statuses(server.raw(two)) == [200, 404]


def test_an_error_after_a_head_request_has_its_body(server):
    received = server.raw(b"HEAD /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + b"nonsense\r\n\r\n")
    assert statuses(received) == [400] and received.endswith(b'"}'), received  # the first is of HTTP/1.0


def test_too_many_connections_are_turned_away(tmp_path):
    with serving(tmp_path, "--connections", 3, "--idle-timeout", 60) as server:
        held = [server.connect() for _ in range(3)]
        for connection in held:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        turned_away = server.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert statuses(turned_away) == [503] and b"\r\nRetry-After: 1\r\n" in turned_away
        for connection in held:
            connection.close()
        for _ in range(100):
            if server.request("GET", "/health")[0] == 200:
                return
            time.sleep(0.1)
        raise AssertionError("no connection is taken any more")
