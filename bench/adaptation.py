#!/usr/bin/env python3
"""What `attend serve --projects` gains from a translator's corrections, and what its training costs others.

usage: bench/adaptation.py --model MODEL --source document.en --reference document.de [--attend build/attend] [--evaluate PROGRAM]
       [--lines 1000] [--batch 50] [--lowercase] [--recipe FILE] [--measure gain load] [--seconds 20] [--rounds 3]

  gain  A translator goes through the first half of the document, batch by batch: the service translates a batch, the references
        come back as corrections, and the next batch waits until their adapter is served. Prints BLEU of those batches as they
        were translated, and of the second half, which nobody corrects, with the model alone and with the last adapter.
  load  Translations a second of one client that asks for sentence after sentence, in turns without a training and while one
        runs, each for --seconds; prints the median of the rounds' ratios.
"""

import argparse
import contextlib
import http.client
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from case import bleu, lines_of

PROJECT = "document"
# A training that does not end while its cost is measured.
ENDLESS = """adapter.rank = 8
adapter.matrices = "all"
batch_tokens = 512
schedule = "inverse_sqrt"
peak_learning_rate = 0.003
warmup_updates = 10
max_updates = 1000000
"""


class Service:
    """`attend serve` with one model and one project."""

    def __init__(self, args: argparse.Namespace, folder: pathlib.Path) -> None:
        (folder / "projects").mkdir()
        command = [args.attend, "serve", "--model", f"base={args.model}", "--port", "0", "--projects", folder / "projects",
                   "--adaptation-pause", "0", "--max-corrections", "100000"]
        if args.recipe:
            command += ["--adaptation-recipe", args.recipe]
        self.process = subprocess.Popen([str(part) for part in command], stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if '"listening"' in line:
                self.port = json.loads(line)["port"]
                break
        else:
            sys.exit("attend serve did not start")
        subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=subprocess.DEVNULL)  # so that it can go on writing

    def ask(self, method: str, path: str, body: dict | None = None) -> dict:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        with contextlib.closing(connection):
            connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read().decode()
        if answer.status != 200:
            sys.exit(f"{method} {path}: {text}")
        return json.loads(text)

    def translate(self, texts: list[str], model: str) -> list[str]:
        found = []
        for begin in range(0, len(texts), 200):
            body = {"text": texts[begin:begin + 200], "model": model}
            found += [each["text"] for each in self.ask("POST", "/v1/translate", body)["translations"]]
        return found

    def correct(self, sources: list[str], targets: list[str]) -> None:
        self.ask("POST", "/v1/corrections", {"project": PROJECT, "model": "base", "source": sources, "target": targets})

    def state(self) -> dict:
        return self.ask("GET", f"/v1/projects/{PROJECT}")

    def await_version(self, number: int) -> dict:
        """Until it is trained and loaded."""
        while (state := self.state())["current"] != number:
            if state.get("error"):
                sys.exit(state["error"])
            time.sleep(.1)
        while not any(model["name"] == f"base/{PROJECT}" for model in self.ask("GET", "/v1/models")["models"]):
            time.sleep(.1)
        time.sleep(3)  # a version that replaces another is loaded within that
        return state["versions"][-1]


def measure_gain(args: argparse.Namespace, service: Service, sources: list[str], references: list[str]) -> None:
    half, model, written, seconds = len(sources) // 2, "base", [], []
    for number, begin in enumerate(range(0, half, args.batch), 1):
        end = min(begin + args.batch, half)
        written += service.translate(sources[begin:end], model)
        service.correct(sources[begin:end], references[begin:end])
        seconds.append(service.await_version(number)["seconds"])
        model = f"base/{PROJECT}"
        print(f"batch {number}: learned from {end} corrections in {seconds[-1]:.1f} s", flush=True)
    for name, lines, expected, alone in (
            ("first half, as it was translated", written, references[:half], service.translate(sources[:half], "base")),
            ("second half", service.translate(sources[half:], model), references[half:], service.translate(sources[half:], "base"))):
        before, after = (bleu(args.evaluate or args.attend, each, expected, *["--lowercase"] * args.lowercase) for each in (alone, lines))
        print(f"{name}: BLEU {before:.2f} with the model alone, {after:.2f} with adapters ({after - before:+.2f})")
    print(f"a training took {statistics.median(seconds):.1f} s (median)")


def rate(service: Service, sources: list[str], seconds: float) -> float:
    """Translations a second of one client."""
    end, count, source = time.monotonic() + seconds, 0, random.Random(1)
    while time.monotonic() < end:
        service.translate([source.choice(sources)], "base")
        count += 1
    return count / seconds


def measure_load(args: argparse.Namespace, service: Service, sources: list[str], references: list[str]) -> None:
    body = {"project": PROJECT, "model": "base", "source": sources[:50], "target": references[:50]}
    rate(service, sources, 3)
    ratios = []
    for _ in range(args.rounds):
        alone = rate(service, sources, args.seconds)
        service.ask("POST", "/v1/corrections", body)
        while service.state()["state"] != "training":
            time.sleep(.05)
        time.sleep(1)
        beside = rate(service, sources, args.seconds)
        if service.state()["state"] != "training":
            sys.exit("the training ended before the measurement; give fewer --seconds")
        service.ask("DELETE", f"/v1/projects/{PROJECT}")
        ratios.append(beside / alone)
        print(f"{alone:.1f} translations a second alone, {beside:.1f} beside a training: {100 * ratios[-1]:.1f} %", flush=True)
    print(f"median of {len(ratios)} round{'' if len(ratios) == 1 else 's'}: {100 * statistics.median(ratios):.1f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--evaluate", help="the program that counts BLEU, where it is another one")
    parser.add_argument("--model", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--reference", required=True)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--lowercase", action="store_true", help="BLEU without case, for models of lower-cased text")
    parser.add_argument("--recipe", help="TOML file of training options, in place of the usual ones")
    parser.add_argument("--measure", nargs="+", default=["gain"], choices=["gain", "load"])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    sources, references = lines_of(args.source, args.lines), lines_of(args.reference, args.lines)
    for name in args.measure:
        with tempfile.TemporaryDirectory() as folder:
            own = argparse.Namespace(**vars(args))  # of this measurement
            if name == "load" and not args.recipe:
                own.recipe = str(pathlib.Path(folder, "recipe.toml"))
                pathlib.Path(own.recipe).write_text(ENDLESS, encoding="utf-8")
            service = Service(own, pathlib.Path(folder))
            try:
                (measure_gain if name == "gain" else measure_load)(own, service, sources, references)
            finally:
                service.process.terminate()
                service.process.wait()


if __name__ == "__main__":
    main()
