"""Requests that no client should send: by hand, and damaged at random. For tests/http/hostile_test.py and bench/serve.py."""

SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
# Heads that make a body's end doubtful.
DOUBTFUL_HEADS = [
    b"Content-Length: 4\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: chunked\r\nContent-Length: 4",
    b"Content-Length: 4\r\nContent-Length: 40", b"Content-Length: 4, 40", b"Content-Length: +4", b"Content-Length: -4",
    b"Content-Length: 0x4", b"Content-Length: 99999999999999999999", b"Transfer-Encoding: xchunked",
    b"Transfer-Encoding: identity", b"Transfer-Encoding: chunked, identity", b"Transfer-Encoding: gzip, chunked",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", b"Transfer-Encoding : chunked", b"Content-Length : 4",
    b"Content-Encoding: gzip\r\nContent-Length: 4",
]
NO_REQUESTS = [
    b"\r\n\r\n\r\n\r\n", b"GET\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: y\r\n\r\n", b"GET ftp://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n", b"* / HTTP/1.1\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nA\x00: b\r\n\r\n", b"GET / HTTP/1.1\nHost: x\n\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), b"GET /\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n: no name\r\n\r\n", b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
]
NO_JSON = [
    b"", b"{", b"nonsense", b"[" * 10000, b'{"text": "a", "text": "b"}', b'{"text": "\xff"}', b'{"text": "\\ud800"}', b"null", b"3",
    b'{"text": "a"} trailing', b'{"text": NaN}', b'{"text": "a", "n_best": 1e999}', b'{"text": {"a": 1}}',
    b'{"text": "a", "beam_size": 99999999999999999999}', b'{"text": "a", "beam_size": 2.5}', b'{"text": "a", "model": null}',
]


def json_post(path, body):
    """A whole request as it goes over the wire, after which the server closes."""
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def smuggling(head):
    """A second request in what may or may not be the body of the first."""
    return b"POST /translate HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n0\r\n\r\n" + SMUGGLED


def damaged(request, rng):
    """A copy with one to eight changes."""
    changed = bytearray(request)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(changed))
        changed[at : at + rng.randint(0, 3)] = bytes(rng.choices(range(256), k=rng.randint(0, 3)))
    return bytes(changed)
