#!/usr/bin/env python3
"""Measures `attend serve` under load beside CTranslate2 in a Python web server, and prints a Markdown table.

usage: bench/serve.py [--attend build/attend] [--measure throughput latency ...] [--seconds 30] [--rounds 1] [--no-peer]
       [--model DIR --input FILE] [--beam-size 1] [--clients 64] [--threads 2] [--output TABLE.md]

Without --model random int8 weights of base size are served (bench/random_model.py), every sentence 24 pieces and every output 32;
with it a model directory on real text, a line a request. The load comes from wrk (Debian's package) on the same machine. What can
be measured:

  throughput  sentences a second of so many clients that each send the next at once, beside `attend translate` on the same text
  latency     at half of that load, from clients that wait between requests; and one client alone
  overload    at ten times that load: sentences a second, and how soon the others are refused
  idle        throughput while 10,000 connections stand idle
  malformed   1,000 broken requests, by hand and damaged at random
  memory      resident memory during --memory-seconds (600) of all kinds of requests
"""

import argparse
import contextlib
import dataclasses
import datetime
import http.client
import json
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from compare_outputs import read_lines
from compare_translate import commit, processors, write
from random_model import text, write_model

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "tests/http"))
from hostile_requests import DOUBTFUL_HEADS, NO_JSON, NO_REQUESTS, damaged, json_post, smuggling  # noqa: E402

VOCABULARY, SOURCE, TARGET, LINES = 32000, 24, 32, 600
WARM = 3  # seconds of load before anything counts
IDLE, MALFORMED, OVERLOAD = 10000, 1000, 10
WAITING = 256  # sentences that may wait, on both sides
PATIENCE = 120  # seconds


class Server:
    """One that runs; its port is known."""

    def __init__(self, process, port):
        self.process, self.port = process, port

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def post(self, body):
        """Status, and seconds until the whole answer is there."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            begin = time.perf_counter()
            connection.request("POST", "/v1/translate", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            return answer.status, time.perf_counter() - begin

    def resident_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


@contextlib.contextmanager
def running(command, log):
    """A server that is ended afterwards. It logs an object a line, {"event": "listening", "port": N} once it serves."""
    with open(log, "wb") as output, subprocess.Popen(list(map(str, command)), stdout=output, stderr=output) as process:
        try:
            yield Server(process, wait_for_port(process, log))
        finally:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()


def wait_for_port(process, log):
    for _ in range(10 * PATIENCE):
        for line in log.read_text("utf-8").splitlines():
            if '"listening"' in line:
                return json.loads(line)["port"]
        if process.poll() is not None:
            break
        time.sleep(0.1)
    sys.exit(f"bench/serve.py: the server does not start: {log.read_text('utf-8')}")


class Bench:
    """The model, the text, and how both servers are started."""

    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.search, self.best = {"beam_size": options.beam_size}, {}
        if options.model:
            self.model, self.lines = options.model, read_lines(options.input)
            self.search["max_length"] = 256
        else:
            self.model, self.lines = self.folder / "model", text(VOCABULARY, LINES, SOURCE)
            self.search.update(min_length=TARGET, max_length=TARGET)
            write_model(self.model, "base", VOCABULARY)
        self.requests = self.write_requests("requests", [("/v1/translate", {"text": line}) for line in self.lines])

    def write_requests(self, name, requests):
        """A file for serve_load.lua."""
        path = self.folder / name
        lines = [f"{to}\t{json.dumps(body)}\n" for to, body in requests]
        path.write_text("".join(lines), "utf-8")
        return path

    def flags(self):
        return [part for name, value in self.search.items() for part in ("--" + name.replace("_", "-"), value)]

    def attend(self, *more):
        command = [self.options.attend, "serve", "--model", self.model, "--port", 0, "--threads", self.options.threads,
                   "--queue-sentences", WAITING, "--max-sentences", WAITING, "--idle-timeout", 3600, *self.flags(), *more]
        return running(command, self.folder / "attend.log")

    def peer(self):
        command = [sys.executable, FOLDER / "ct2_serve.py", "--model", self.model, "--threads", self.options.threads, "--queue", WAITING]
        return running(command + self.flags(), self.folder / "peer.log")

    def load(self, server, clients, think_ms=0.0, requests=None, seconds=None):
        """What so many clients saw."""
        for duration in (WARM, round(seconds or self.options.seconds)):  # the second one counts
            command = ["wrk", "--threads", min(2, clients), "--connections", clients, "--duration", f"{duration}s", "--timeout", "600s",
                       "--script", FOLDER / "serve_load.lua", f"http://127.0.0.1:{server.port}", "--", requests or self.requests, think_ms]
            done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", check=False)
            found = [line for line in done.stdout.splitlines() if line.startswith("{")]
            if not found:
                sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        report = json.loads(found[0])
        report["rate"] = report["statuses"].get("200", 0) / report["seconds"]
        return report

    def translate_seconds(self, lines):
        command = [self.options.attend, "translate", "--model", self.model, "--threads", self.options.threads, "--quiet", *self.flags()]
        begin = time.perf_counter()
        subprocess.run(list(map(str, command)), input="\n".join(lines) + "\n", stdout=subprocess.DEVNULL, encoding="utf-8", check=True)
        return time.perf_counter() - begin

    def translate_rate(self):
        """Sentences a second of `attend translate`, loading not counted."""
        return len(self.lines) / (self.translate_seconds(self.lines) - self.translate_seconds([]))

    def sides(self):
        """Name and server of each side, one after the other."""
        with self.attend() as server:
            yield "attend", server
        if not self.options.no_peer:
            with self.peer() as server:
                yield "peer", server


@dataclasses.dataclass
class Figure:
    name: str
    attend: str
    peer: str = ""
    wanted: str = ""

    def line(self):
        return f"| {self.name} | {self.attend} | {self.peer} | {self.wanted} |"


def rates(bench):
    """Each side's best sentences a second at full load."""
    best = {"attend": 0.0, "peer": 0.0}
    for name, server in bench.sides():
        best[name] = bench.load(server, bench.options.clients)["rate"]
    return best


def measure_throughput(bench):
    best = {"attend": 0.0, "peer": 0.0, "translate": 0.0}
    for _ in range(bench.options.rounds):
        best["translate"] = max(best["translate"], bench.translate_rate())
        for name, rate in rates(bench).items():
            best[name] = max(best[name], rate)
        print(", ".join(f"{name} {rate:.1f}" for name, rate in best.items()), file=sys.stderr)
    bench.best = best
    yield Figure("sentences/s of `attend translate`", f"{best['translate']:.1f}")
    yield Figure(f"sentences/s, {bench.options.clients} clients", f"{best['attend']:.1f}", f"{best['peer']:.1f}" if best["peer"] else "")
    yield Figure("of `attend translate`", f"{100 * best['attend'] / best['translate']:.0f} %", wanted="at least 90 %")


def measure_latency(bench):
    clients, alone, half = bench.options.clients, {}, {}
    for name, server in bench.sides():
        alone[name] = bench.load(server, 1, seconds=max(5, bench.options.seconds / 4))
        rate = bench.best[name] / 2
        think = 1000 * clients / rate - alone[name]["p50_ms"]
        half[name] = bench.load(server, clients, think)
    show = {name: f"{report['p50_ms']:.0f} / {report['p99_ms']:.0f}" for name, report in half.items()}
    share = {name: f"{report['p99_ms'] / report['p50_ms']:.1f}" for name, report in half.items()}
    load = {name: f"{100 * report['rate'] / bench.best[name]:.0f} %" for name, report in half.items()}
    single = {name: f"{report['p50_ms']:.0f}" for name, report in alone.items()}
    yield Figure("one client alone, ms p50", single["attend"], single.get("peer", ""))
    yield Figure("at half load, ms p50 / p99", show["attend"], show.get("peer", ""))
    yield Figure("p99 over p50", share["attend"], share.get("peer", ""), "below 3")
    yield Figure("share of full load it was", load["attend"], load.get("peer", ""))


class Refusals(threading.Thread):
    """Clients that ask now and then, and note how long a refusal takes."""

    def __init__(self, bench, server):
        super().__init__(daemon=True)
        self.server, self.body = server, json.dumps({"text": bench.lines[0]})
        self.seconds, self.ended = [], threading.Event()
        self.start()

    def ask(self):
        with contextlib.suppress(OSError, http.client.HTTPException):  # the server may end first
            status, seconds = self.server.post(self.body)
            if status == 503:
                self.seconds.append(seconds)

    def run(self):
        while not self.ended.wait(0.05):
            threading.Thread(target=self.ask, daemon=True).start()

    def end(self):
        self.ended.set()
        return sorted(self.seconds)


def measure_overload(bench):
    think_s = 2.0
    rate, refused, asked = {}, {}, {}
    for name, server in bench.sides():
        clients = 2 * WAITING + round(OVERLOAD * bench.best[name] * think_s)  # a part of them wait
        refusals = Refusals(bench, server)
        report = bench.load(server, clients, 1000 * think_s)
        seconds = refusals.end()
        rate[name] = f"{report['rate']:.1f}, {100 * report['rate'] / bench.best[name]:.0f} %"
        asked[name] = f"{sum(report['statuses'].values()) / report['seconds'] / bench.best[name]:.1f}"
        at = {share: 1000 * seconds[int(share * (len(seconds) - 1))] for share in (0.5, 0.99, 1)} if seconds else {}
        refused[name] = " / ".join(f"{value:.0f}" for value in at.values())
    yield Figure("overloaded: requests over full load", asked["attend"], asked.get("peer", ""), "10")
    yield Figure("overloaded: sentences/s", rate["attend"], rate.get("peer", ""), "at least 90 %")
    yield Figure("overloaded: ms to a 503, p50 / p99 / longest", refused["attend"], refused.get("peer", ""), "below 50")


def measure_idle(bench):
    with bench.attend() as server:
        idle = [server.connect() for _ in range(IDLE)]
        for connection in idle[::2]:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for connection in idle[::2]:
            connection.recv(4096)
        rate = bench.load(server, bench.options.clients)["rate"]
        memory = server.resident_mb()
        for connection in idle:
            connection.close()
    yield Figure(f"sentences/s with {IDLE:,} idle connections", f"{rate:.1f}, {100 * rate / bench.best['attend']:.0f} %")
    yield Figure("resident MB then", f"{memory:.0f}")


def malformed_requests(line):
    rng = random.Random(7)
    good = json_post("/v1/translate", json.dumps({"text": line, "n_best": 1}).encode())
    by_hand = NO_REQUESTS + [smuggling(head) for head in DOUBTFUL_HEADS] + [json_post("/v1/translate", body) for body in NO_JSON]
    return by_hand + [damaged(good, rng) for _ in range(MALFORMED - len(by_hand))]


def send_malformed(server, line):
    """How many of each kind of answer came."""
    answers = {}
    for request in malformed_requests(line):
        with server.connect() as connection, contextlib.suppress(ConnectionError):
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(65536).decode("latin-1").split(" ")
            kind = answer[1] if len(answer) > 1 else "none"
            answers[kind] = answers.get(kind, 0) + 1
    return answers


def measure_malformed(bench):
    with bench.attend() as server:
        answers = send_malformed(server, bench.lines[0])
        status, _ = server.post(json.dumps({"text": bench.lines[0]}))
        alive = server.process.poll() is None and status == 200
    found = ", ".join(f"{count} {kind}" for kind, count in sorted(answers.items()))
    yield Figure(f"{MALFORMED:,} malformed requests", f"{found}; {'serves' if alive else 'ENDED'}", wanted="no crash")


def mixed_requests(lines, target):
    """Paths and bodies: single sentences, paragraphs, markup, alternatives, streams, and what is refused."""
    for i, line in enumerate(lines):
        kind, several = i % 10, ". ".join(lines[i : i + 12])
        libre = {"source": "auto", "target": target, "q": line}
        if kind < 4:
            yield "/v1/translate", {"text": line}
        elif kind == 4:
            yield "/v1/translate", {"text": several}
        elif kind == 5:
            yield "/v1/translate", {"text": line, "stream": True, "n_best": 2, "beam_size": 2, "alignments": True}
        elif kind == 6:
            yield "/v1/translate", {"text": [line, several], "priority": "bulk", "deadline_ms": 2000}
        elif kind == 7:
            yield "/translate", {**libre, "q": f"<p>{line} <b>{line[:20]}</b></p>", "format": "html"}
        elif kind == 8:
            yield "/v1/translate", {"text": line, "beam_size": 1000}
        else:
            yield "/translate", {**libre, "alternatives": 1}


def measure_memory(bench):
    seconds, samples = bench.options.memory_seconds, []
    target = json.loads((pathlib.Path(bench.model) / "config.json").read_text("utf-8"))["model"]["languages"][1]
    requests = bench.write_requests("mixed", mixed_requests(bench.lines, target))
    with bench.attend() as server:
        loading = threading.Thread(target=bench.load, args=(server, bench.options.clients, 200, requests, seconds))
        loading.start()
        while loading.is_alive():
            send_malformed(server, bench.lines[0])
            samples.append(server.resident_mb())
            loading.join(5)
    fifth = max(1, len(samples) // 5)
    parts = [max(samples[i * fifth : (i + 1) * fifth]) for i in range(5) if samples[i * fifth :]]
    yield Figure(f"resident MB, {seconds} s of mixed load", ", ".join(f"{part:.0f}" for part in parts) + " (each fifth's most)",
                 wanted="no growth")


MEASURES = {"throughput": measure_throughput, "latency": measure_latency, "overload": measure_overload, "idle": measure_idle,
            "malformed": measure_malformed, "memory": measure_memory}


def heading(bench):
    name, count = processors()
    what = bench.options.model or f"base int8, random weights, {SOURCE} pieces to {TARGET}"
    return (f"{what}; beam {bench.options.beam_size}, {bench.options.threads} threads. {name}, {count} threads in all, wrk on the same. "
            f"attend {commit()}, {datetime.date.today().isoformat()}.")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--measure", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--no-peer", action="store_true")
    for name, value in (("seconds", 30), ("memory-seconds", 600), ("rounds", 1), ("clients", 64), ("threads", 2), ("beam-size", 1)):
        parser.add_argument("--" + name, type=int, default=value)
    for name in ("model", "input", "output"):
        parser.add_argument("--" + name)
    options = parser.parse_args()
    if bool(options.model) != bool(options.input):
        parser.error("--model and --input go together")
    return options


def main():
    options = parse()
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        relative = {"latency", "overload", "idle"} & set(options.measure)
        if relative and "throughput" not in options.measure:
            bench.best = rates(bench)
        for name in options.measure:
            for figure in MEASURES[name](bench):
                figures.append(figure)
                print(figure.line(), file=sys.stderr)
    lines = [heading(bench), "", "| | attend | CTranslate2 behind aiohttp | wanted |", "|---|---|---|---|"]
    write("\n".join(lines + [figure.line() for figure in figures]) + "\n", options.output)


if __name__ == "__main__":
    main()
