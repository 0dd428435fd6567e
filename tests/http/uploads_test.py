"""Bodies with files may be larger than others, and few of them are read at once."""

import base64
import contextlib
import io
import json
import random
import socket

import pytest
import random_models
from server import MODEL, PATIENCE, serving

Image = pytest.importorskip("PIL.Image")
BODY, UPLOAD, MOST_UPLOADS = 1 << 20, 25 << 20, 32


def picture(bytes_of_file):
    """A PNG of about so many bytes: noise does not get smaller by packing."""
    side = int((bytes_of_file / 3) ** 0.5)
    file = io.BytesIO()
    Image.frombytes("RGB", (side, side), random.Random(1).randbytes(3 * side * side)).save(file, "PNG", compress_level=1)
    return file.getvalue()


@pytest.fixture(name="server", scope="module")
def running(tmp_path_factory):
    model = random_models.write_picture_model(tmp_path_factory.mktemp("pictures"))
    with serving(tmp_path_factory.mktemp("serve"), "--model", f"animals={model}", "--model", f"ka={MODEL}", "--read-timeout", 2, model=None) as server:
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


def test_few_large_bodies_are_read_at_once(server):
    """Others are asked to come again; usual requests are answered meanwhile."""
    head = f"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {2 * BODY}\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        for _ in range(MOST_UPLOADS):
            stack.enter_context(server.connect()).sendall(head + b"{")
        late = stack.enter_context(server.connect())
        answers = []
        for _ in range(PATIENCE * 20):  # until the server has seen those before
            late.sendall(head)
            answers.append(late.recv(65536))
            if answers[-1]:
                break
        assert answers[-1].startswith(b"HTTP/1.1 503 ") and b"Retry-After: " in answers[-1]
        assert server.translate("lumi")
    status, _ = server.post("/v1/classify", {"model": "animals", "picture": base64.b64encode(picture(2 << 20)).decode()})
    assert status == 200


def test_a_large_body_has_more_time(server):
    """Two seconds for each MiB: three parts with a second and a half between them are not too slow for six."""
    body = json.dumps({"model": "animals", "picture": base64.b64encode(picture(2 << 20)).decode()}).encode()
    head = f"POST /v1/classify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with server.connect() as connection:
        connection.sendall(head + body[:1000])
        connection.settimeout(3)
        with pytest.raises(socket.timeout):
            connection.recv(1)
        connection.settimeout(PATIENCE)
        connection.sendall(body[1000:])
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
