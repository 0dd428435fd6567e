"""Bodies with files may be larger than others, and few of them are read at once."""

import base64
import contextlib
import io
import json
import random
import socket
import time

import pytest
import random_models
from server import MODEL, PATIENCE, serving, wait_until

Image = pytest.importorskip("PIL.Image")
BODY, UPLOAD, MOST_OF_ONE = 1 << 20, 25 << 20, 4
CHUNKED = b"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


def picture(bytes_of_file):
    """A PNG of about so many bytes: noise does not get smaller by packing."""
    side = int((bytes_of_file / 3) ** 0.5)
    file = io.BytesIO()
    Image.frombytes("RGB", (side, side), random.Random(1).randbytes(3 * side * side)).save(file, "PNG", compress_level=1)
    return file.getvalue()


@pytest.fixture(name="server", scope="module")
def running(tmp_path_factory):
    model = random_models.write_picture_model(tmp_path_factory.mktemp("pictures"))
    with serving(tmp_path_factory.mktemp("serve"), "--model", f"animals={model}", "--model", f"ka={MODEL}", model=None) as server:
        yield server


def test_a_photograph_is_taken_whole(server):
    body = json.dumps({"model": "animals", "picture": base64.b64encode(picture(4 << 20)).decode()})
    assert BODY < len(body) < UPLOAD
    status, _, text = server.request("POST", "/v1/classify", body, {"Content-Type": "application/json"})
    assert status == 200 and json.loads(text)["results"], text
    chunks = (body[i:i + 100000].encode() for i in range(0, len(body), 100000))  # without Content-Length
    status, _, chunked = server.request("POST", "/v1/classify", chunks, {"Content-Type": "application/json"})
    assert (status, chunked) == (200, text)


@pytest.mark.parametrize(("path", "size", "option"), [
    ("/v1/translate", BODY + 1, "--max-body-bytes"), ("/translate", BODY + 1, "--max-body-bytes"), ("/none", BODY + 1, "--max-body-bytes"),
    ("/v1/classify", UPLOAD + 1, "--max-upload-bytes"), ("/translate_file", UPLOAD + 1, "--max-upload-bytes"),
    ("/v1/audio/transcriptions", UPLOAD + 1, "--max-upload-bytes"), ("/v1/embeddings?a=b", UPLOAD + 1, "--max-upload-bytes"),
])
@pytest.mark.parametrize("chunked", [False, True])
def test_what_is_larger_is_refused(server, path, size, option, chunked):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with server.connect() as connection:
        if not chunked:  # refused before the body comes
            connection.sendall(f"{head}Content-Length: {size}\r\n\r\n".encode())
        else:
            connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n{size:x}\r\n".encode())
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"x" * size)
        answer = b""
        with contextlib.suppress(ConnectionError):
            while part := connection.recv(65536):
                answer += part
    assert answer.startswith(b"HTTP/1.1 413 ") and option.encode() in answer and str(size - 1).encode() in answer


def head_of(size, path="/v1/classify"):
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n".encode()


def classified(server):
    """The status of a picture of 2 MiB."""
    return server.post("/v1/classify", {"model": "animals", "picture": base64.b64encode(picture(2 << 20)).decode()})[0]


def answer_of(connection):
    """What comes until the server closes."""
    answer = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            answer += part
    return answer


def test_few_large_bodies_are_read_at_once(server):
    """Others are asked to come again; usual requests are answered meanwhile."""
    with contextlib.ExitStack() as stack:
        for _ in range(MOST_OF_ONE):
            stack.enter_context(server.connect()).sendall(head_of(2 * BODY) + b" " * (BODY + 1))
        late = stack.enter_context(server.connect())
        late.sendall(head_of(2 * BODY))  # refused before its body comes, once the server has seen those before
        answer = b""
        for _ in range(PATIENCE * 20):
            late.settimeout(0.05)
            with contextlib.suppress(socket.timeout):
                answer = late.recv(65536)
                break
            late.close()
            late = stack.enter_context(server.connect())
            late.sendall(head_of(2 * BODY))
        assert answer.startswith(b"HTTP/1.1 503 ") and b"Retry-After: " in answer
        chunked = stack.enter_context(server.connect())  # nobody knows that it is large until it has come
        with contextlib.suppress(ConnectionError):
            chunked.sendall(CHUNKED + f"{BODY + 1:x}\r\n".encode() + b" " * (BODY + 1))
        assert answer_of(chunked).startswith(b"HTTP/1.1 503 ")
        assert server.translate("lumi")
    assert wait_until(lambda: classified(server) == 200, "room")


def test_who_sends_nothing_takes_no_room(server):
    """Neither by what it announces, nor by chunks that may become many."""
    with contextlib.ExitStack() as stack:
        for start in [head_of(2 * BODY) + b"{"] * 20 + [CHUNKED + b"1\r\n \r\n"] * 20:
            stack.enter_context(server.connect()).sendall(start)
        time.sleep(0.2)
        assert classified(server) == 200


def test_what_is_refused_takes_no_room(server):
    """Its connection stays for a while, so that the answer arrives."""
    with contextlib.ExitStack() as stack:
        for _ in range(MOST_OF_ONE):
            connection = stack.enter_context(server.connect())
            with contextlib.suppress(ConnectionError):
                connection.sendall(CHUNKED + f"{UPLOAD + 1:x}\r\n".encode() + b" " * (UPLOAD + 1))
            assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")
        assert classified(server) == 200


@pytest.mark.parametrize("value", ["[]", '""', "1"])
def test_small_values_do_not_fill_memory(server, value):
    before = server.peak_memory()
    body = '{"model":"animals","picture":["a"' + f",{value}" * (24 * BODY // (len(value) + 1)) + "]}"
    status, _, text = server.request("POST", "/v1/classify", body, {"Content-Type": "application/json"})
    assert status == 400 and "more than 1048576 values" in text
    assert server.peak_memory() < before + (250 << 10)


def test_a_large_body_has_more_time(tmp_path):
    """Two seconds for each MiB, though not all for the first."""
    model = random_models.write_picture_model(tmp_path)
    body = json.dumps({"model": "animals", "picture": base64.b64encode(picture(2 << 20)).decode()}).encode()
    with serving(tmp_path, "--model", f"animals={model}", "--read-timeout", 2, model=None) as server:
        with server.connect() as connection:
            connection.sendall(head_of(len(body)))
            for begin in range(0, len(body), BODY):
                time.sleep(0.7)
                connection.sendall(body[begin:begin + BODY])
            assert begin >= 2 * BODY
            assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
        with server.connect() as connection:
            connection.sendall(head_of(len(body)) + body[:1000])
            connection.settimeout(5)
            with contextlib.suppress(ConnectionError):
                assert connection.recv(1) == b""  # closed
