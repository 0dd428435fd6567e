"""A running `attend serve` with the golden model, and how to talk to it; what the tests of tests/http share."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

BUILD = pathlib.Path(os.environ.get("BUILD_DIR", pathlib.Path(__file__).resolve().parents[2] / "build"))
ATTEND = BUILD / "attend"
HAS_PACKAGE = any((BUILD / "python/attend").glob("_attend*.so"))
MODEL = pathlib.Path(__file__).resolve().parents[1] / "data/golden_v1"  # ka to su
VARIANT = MODEL.with_name("golden_v1_variant")
LANGUAGE_MODEL = MODEL.with_name("golden_language_model")
TEXT = "lumi tavo keri"
# A search that ends with its request, not by itself.
ENDLESS = {"min_length": 100000, "max_length": 100000}
# One that runs long enough to be seen, and ends.
SECONDS_LONG = {"min_length": 4000, "max_length": 4000}
PATIENCE = 120  # seconds; the machine may be busy


class Server:
    def __init__(self, process, log):
        self.process, self.log = process, log
        self.port = self.wait_for("listening")["port"]

    def events(self):
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]

    def wait_for(self, event, count=1):
        """The count-th event of that name in the log."""
        for _ in range(PATIENCE * 20):
            found = [line for line in self.events() if line["event"] == event]
            if len(found) >= count:
                return found[count - 1]
            assert self.process.poll() is None, self.log.read_text(encoding="utf-8")
            time.sleep(0.05)
        raise AssertionError(f"no event {event}: {self.log.read_text(encoding='utf-8')}")

    def request(self, method, path, body=None, headers=None):
        """Status, headers and body as text, of a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode("utf-8")

    def get(self, path):
        status, _, text = self.request("GET", path)
        assert status == 200, text
        return json.loads(text)

    def post(self, path, value, headers=None):
        """Status and JSON of a JSON request."""
        status, _, text = self.request("POST", path, json.dumps(value), {"Content-Type": "application/json", **(headers or {})})
        return status, json.loads(text)

    def translate(self, text, **options):
        status, answer = self.post("/v1/translate", {"text": text, **options})
        assert status == 200, answer
        return answer["translations"]

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def raw(self, data):
        """Everything that comes back until the server closes."""
        with self.connect() as connection:
            connection.sendall(data)
            received = b""
            with contextlib.suppress(ConnectionError):
                while part := connection.recv(65536):
                    received += part
            return received

    def post_bytes(self, path, value):
        """A whole request as it goes over the wire."""
        body = json.dumps(value).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + body

    def metric(self, name):
        """The sum of a metric over its labels."""
        _, _, text = self.request("GET", "/metrics")
        values = re.findall(rf"^{name}(?:{{[^}}]*}})? ([-+.\de]+)$", text, flags=re.M)
        return sum(map(float, values))

    def wait_for_metric(self, name, value):
        for _ in range(PATIENCE * 20):
            if self.metric(name) == value:
                return
            time.sleep(0.05)
        raise AssertionError(f"{name} stays {self.metric(name)}, expected {value}")

    def peak_memory(self):
        """The most that it has had in memory, in KiB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])

    def stop(self):
        """The exit status after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=PATIENCE)


def multipart(members, file=None, boundary="----x'()+_,-./:=?"):
    """The body and headers of multipart/form-data; `file` is a name and bytes."""
    parts = [(f'name="{name}"', value.encode() if isinstance(value, str) else value) for name, value in members.items()]
    if file is not None:
        parts.append((f'name="file"; filename="{file[0]}"\r\nContent-Type: application/octet-stream', file[1]))
    body = b"".join(f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + content + b"\r\n" for head, content in parts)
    return body + f"--{boundary}--\r\n".encode(), {"Content-Type": f'multipart/form-data; boundary="{boundary}"'}


def events_in(text):
    """Names and JSON of the events of a stream's text."""
    return [(name, json.loads(data)) for name, data in (re.fullmatch(r"event: (\w+)\ndata: (.*)", b).groups() for b in text.split("\n\n")[:-1])]


def events_of(server, body):
    """Names and JSON of the events of a stream."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("POST", "/v1/translate", json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/event-stream")
    text = answer.read().decode()
    connection.request("GET", "/health")  # the connection goes on
    assert connection.getresponse().status == 200
    connection.close()
    return events_in(text)


@contextlib.contextmanager
def serving(folder, *arguments, model=MODEL, program=ATTEND):
    """`model` None: those that the arguments name."""
    log = folder / "log"
    model = () if model is None else ("--model", model)
    threads = () if "--threads" in arguments else ("--threads", "2")
    with open(log, "wb") as errors:
        with subprocess.Popen(
            [program, "serve", *model, "--port", "0", *threads, *map(str, arguments)], stderr=errors
        ) as process:
            try:
                yield Server(process, log)
            finally:
                process.kill()


def wait_until(seen, what):
    """What it sees, once it does."""
    for _ in range(PATIENCE * 10):
        if value := seen():
            return value
        time.sleep(.1)
    raise AssertionError(f"{what} did not come")


def failed_start(*arguments):
    """The end of a service that must not start."""
    return subprocess.run([ATTEND, "serve", "--port", "0", *map(str, arguments)], capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False)


def copied_model(folder, languages, of=MODEL):
    """A copy of the model that says it is for other languages."""
    shutil.copytree(of, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["model"]["languages"] = languages
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def command_line(text, *options, model=MODEL):
    """The lines that `attend translate` makes of the text."""
    done = subprocess.run(
        [ATTEND, "translate", "--model", model, "--threads", "1", "--quiet", *map(str, options)],
        input=text, capture_output=True, encoding="utf-8", check=True, timeout=PATIENCE)
    return done.stdout.splitlines()
