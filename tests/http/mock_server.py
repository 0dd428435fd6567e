"""A server that answers as `attend serve` does, from a word list: what page_test.py needs to delay, refuse and stop."""

import contextlib
import email
import http.server
import json
import pathlib
import re
import select
import socket
import threading
import time

WEB = pathlib.Path(__file__).resolve().parents[2] / "src" / "web"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
SUFFIXES = [".txt", ".html", ".htm"]
POLICY = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
MODELS = [
    {"name": "en-de", "task": "translation", "routes": ["/v1/translate"], "source": "en", "target": "de", "beam_size": 4},
    {"name": "de-en", "task": "translation", "routes": ["/v1/translate"], "source": "de", "target": "en", "beam_size": 4},
    {"name": "en-fr small", "task": "translation", "routes": ["/v1/translate"], "source": "en", "target": "fr", "beam_size": 4},
    {"name": "en-fr", "task": "translation", "routes": ["/v1/translate"], "source": "en", "target": "fr", "beam_size": 1},
]
# Sentences whose alignments are right; any other text is turned around word by word, and an endless one is cut.
KNOWN = {
    "The old garden behind the house is quiet in the morning.":
        ("Der alte Garten hinter dem Haus ist am Morgen still.", [0, 1, 2, 3, 4, 5, 6, 8, 10, 7]),
    "I think that they may sell every big cup.":
        ("Ich denke, dass sie jede große Tasse verkaufen dürfen.", [0, 1, 2, 3, 6, 7, 8, 5, 4]),
}
OTHERS = {
    ("The old garden behind the house is quiet in the morning.", 1): "Der alte Garten hinter dem Haus ist morgens still.",
    ("The old garden behind the house is quiet in the morning.", 2): "Der alte Garten hinter dem Haus ist am Morgen ruhig.",
    ("The old garden behind the house is quiet in the morning.", 3): "Am Morgen ist der alte Garten hinter dem Haus still.",
}


def known(sentence):
    if sentence in KNOWN:
        return KNOWN[sentence]
    words = sentence.split()
    return " ".join(f"{word}'" for word in reversed(words)), list(range(len(words) - 1, -1, -1))


def alternatives(source, prefix):
    """Of the known outputs of a sentence, those that begin with these words, one for each next word."""
    first, found = len(prefix.split()), {}
    for target in [known(source)[0], *(OTHERS.get((source, rank), "") for rank in range(1, 4)), f"{prefix} something else".strip()]:
        words = target.split()
        if words[:first] == prefix.split() and len(words) > first:
            found.setdefault(words[first], {"text": target, "score": -.5, "log_probability": -1.0, "finished": True, "alignment": [[0, 0]]})
    return list(found.values())


def confidence(target, quality):
    """Of a hypothesis; its words "hinter" and "verkaufen" are in doubt."""
    words = [12.3 if word in ("hinter", "verkaufen") else 90 for word in target.split()]
    return {"quality": quality, "word_quality": words, "doubtful_words": [i for i, word in enumerate(words) if word < 30]}


def attention(source, target, places):
    """Weights of 2 layers and 4 heads that look at the aligned word, each head less sharply than the one before."""
    keys = [f"▁{word}" for word in source.split()] + ["</s>"]
    read = ["<s>"] + [f"▁{word}" for word in target.split()]

    def rows(lengths, place_of, sharpness):
        result = []
        for q, length in enumerate(lengths):
            row = [2.718 ** (-sharpness * abs(k - place_of(q))) for k in range(length)]
            result.append([weight / sum(row) for weight in row])
        return result

    def layers(lengths, place_of):
        return [[rows(lengths, place_of, (3.5 - head * .9) * (layer + 1) / 2) for head in range(4)] for layer in range(2)]

    return ({"source_pieces": keys, "encoder_self": layers([len(keys)] * len(keys), lambda q: q)},
            {"target_pieces": read, "decoder_self": layers(range(1, len(read) + 1), lambda q: q),
             "cross": layers([len(keys)] * len(read), lambda q: [*places, len(keys) - 1][q])})


def terms_of(glossary, source, target):
    """How many terms the source has, and how many of them the target has."""
    asked = [term for term in glossary if term["source"].lower() in source.lower()]
    return {"terms": len(asked), "terms_kept": sum((term["target"] or term["source"]) in target for term in asked)}


def translation(text, n_best, with_attention, glossary, memory=None):
    sentences, output, at = [], text, 0
    for line in re.findall(r"[^\n]+", text):
        for source in re.findall(r"\S(?:[^.!?]*[.!?]+(?=\s|$)|.*\S|)", line):
            target, places = known(source)
            links = [[s, t] for t, s in enumerate(places)]
            sentence = {"source": source, "hypotheses": [
                {"text": target if rank == 0 else OTHERS.get((source, rank), f"{target} ({rank})"), "score": -0.31 - .17 * rank,
                 "log_probability": -1.0, "finished": "endless" not in source, "alignment": links,
                 **confidence(target, 84.2 - 20 * rank)} for rank in range(n_best)]}
            for hypothesis in sentence["hypotheses"]:
                hypothesis |= terms_of(glossary, source, hypothesis["text"])
            if memory is not None:
                sentence["matches"] = memory.get(source, [])
            if with_attention:
                sentence["attention"], sentence["hypotheses"][0]["attention"] = attention(source, target, places)
            sentences.append(sentence)
            at = output.index(source, at)
            output = output[:at] + target + output[at + len(source):]
            at += len(target)
    return {"text": output, "sentences": sentences, "divided": "divided" in text, "unknown_characters": text.count("天")}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, content_type="application/json", **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": len(body), "Content-Security-Policy": POLICY,
                            "X-Content-Type-Options": "nosniff", **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        mock = self.server.mock
        mock.awake.wait()
        if self.path == "/v1/models":
            return self.answer(200, {"models": mock.models})
        if self.path == "/v1/memories":
            return self.answer(200, {"memories": [{"name": name, "units": 1} for name in mock.memories]})
        if self.path == "/frontend/settings":
            return self.answer(200, {"charLimit": mock.most_characters, "supportedFilesFormat": SUFFIXES})
        if self.path == "/health":
            return self.answer(200, {"status": "ok"})
        if self.path == "/download_file/translated":
            return self.answer(200, mock.translated.encode(), "application/octet-stream")
        file = WEB / (self.path.lstrip("/") or "page.html")
        if file.parent == WEB and file.is_file():
            return self.answer(200, file.read_bytes(), TYPES[file.suffix])
        return self.answer(404, {"error": "no such page"})

    def do_POST(self):
        with self.server.mock.at_work():
            return self.respond()

    def lacks_key(self):
        key = self.server.mock.key
        return key and self.headers["Authorization"] != f"Bearer {key}"

    def check_file(self, form):
        suffix = re.search(rb'filename="[^"]*?(\.[^".]*)?"', form)[1].decode().lower()
        if self.lacks_key():
            return self.answer(403, {"error": "an API key is needed"})
        if suffix not in SUFFIXES:
            return self.answer(400, {"error": f"a file of type '{suffix}' is not supported"})
        return self.answer(200, {})

    def form_of(self, content):
        form = email.message_from_bytes(f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode() + content)
        return {part.get_param("name", header="content-disposition"): part.get_payload(decode=True).decode() for part in form.get_payload()}

    def respond(self):
        mock, content = self.server.mock, self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/check_file":
            return self.check_file(content)
        body = self.form_of(content) if self.path == "/translate_file" else json.loads(content)
        with mock.lock:
            (mock.positions if self.path == "/v1/alternatives" else mock.requests).append(body)
            refusal = mock.refusals.pop(0) if mock.refusals else None
        if refusal:
            status, error, headers = refusal
            return self.answer(status, {"error": error}, **headers)
        if self.lacks_key():
            return self.answer(403, {"error": "an API key is needed"})
        mock.awake.wait()
        readable, _, _ = select.select([self.connection], [], [], mock.delay(body))
        if readable:  # nothing more can come but an end
            with mock.lock:
                mock.abandoned.append(body)
            self.close_connection = True
            return None
        if self.path == "/v1/alternatives":
            return self.answer(200, {"model": body["model"], "alternatives": alternatives(body["text"], body["target_prefix"])})
        if self.path == "/translate_file":
            mock.translated = "<!-- translated -->" + body["file"]
            counts = {name: 2 * (name in body["file"]) for name in ("unfinished", "divided", "unknown_characters")}
            events = [("progress", {"done": 1, "sentences": 1}), ("done", {"translatedFileUrl": f"{mock.url}download_file/translated", **counts})]
            return self.answer(200, "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events).encode(), "text/event-stream")
        memory = mock.matches if body.get("memory") else None
        translations = [{"model": mock.model_of(text, body),
                         **translation(text, body.get("n_best", 1), body.get("attention"), body.get("glossary", []), memory)} for text in body["text"]]
        return self.answer(200, {"model": translations[0]["model"], "translations": translations})

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, mock):
        super().__init__(("127.0.0.1", mock.port), Handler)
        self.mock, self.connections = mock, set()

    def process_request(self, request, client_address):
        self.connections.add(request)
        super().process_request(request, client_address)

    def server_close(self):
        super().server_close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class MockServer:
    """Serves from a thread; can be stopped and started again at its port."""

    def __init__(self):
        self.lock, self.port, self.server = threading.Lock(), 0, None
        self.awake, self.working = threading.Event(), 0
        self.reset()

    @contextlib.contextmanager
    def at_work(self):
        with self.lock:
            self.working += 1
        try:
            yield
        finally:
            with self.lock:
                self.working -= 1

    def await_silence(self):
        """Until what a page has sent that is gone now has been seen."""
        self.awake.set()
        time.sleep(.3)
        while self.working > 0:
            time.sleep(.05)

    def reset(self):
        self.requests, self.abandoned = [], []
        self.positions = []  # what asked for alternatives at a position
        self.refusals = []  # (status, error, headers) of the next answers
        self.key, self.models, self.most_characters = "", MODELS, -1
        self.memories, self.matches = [], {}  # names; of a sentence, what they have
        self.translated = ""  # the file that was made last
        self.delay = lambda body: 0  # seconds
        self.awake.set()
        if not self.server:
            self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/"

    def texts(self):
        with self.lock:
            return [text for body in self.requests for text in body["text"]]

    def model_of(self, text, body):
        """Each model detects its source by that language's code in the text; else the first that fits answers."""
        fitting = [model for model in self.models if model["target"] == body.get("target")]
        detected = [model for model in fitting if re.search(rf"\b{model['source']}\b", text)]
        return body.get("model") or (detected + fitting)[0]["name"]

    def start(self):
        self.server = Server(self)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": .05}, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.server = None


if __name__ == "__main__":
    print(MockServer().url, flush=True)
    threading.Event().wait()
