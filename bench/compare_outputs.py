#!/usr/bin/env python3
"""Translates the same text with attend and with CTranslate2, from one model, and says how far they are apart.

usage: bench/compare_outputs.py --model DIR --source FILE... [--attend build/attend] [--beam-size 1 4] [--type float32]
       [--max-length 256] [--limit N] [--threads 1] [--batch-size 32]

Prints a JSON line for each file and beam size: sentences, the share of equal outputs, the largest and the mean difference of
log-probabilities of equal ones, and both sides' target tokens a second (CTranslate2's in this process without loading,
attend's from `attend bench translate`).

Both sides then run the same search. Without a length penalty CTranslate2 would end a sentence only when its best hypothesis
ends; a penalty that is 0 in every digit of a float makes it end, as attend does, when as many have ended as the beam is wide.
CTranslate2 shares the probability of forbidden tokens among the others and attend does not, so nothing is forbidden that a
model could choose: outputs may be empty and hold unknown pieces. (attend never gives padding and bos; no trained model does.)
"""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import ctranslate2
import numpy as np
import sentencepiece

PROGRAM = pathlib.Path(os.environ.get("BUILD_DIR", pathlib.Path(__file__).resolve().parents[1] / "build")) / "attend"
NO_PENALTY = 1e-9  # length^1e-9 is 1.0f, but CTranslate2's other stopping rule is off


def convert(model, folder, attend=PROGRAM):
    """Makes the folder: the model as CTranslate2's, in f32."""
    command = [attend, "export", "--format", "ctranslate2", "--model", model, "--output", folder, "--quiet"]
    environment = {"ATTEND_PYTHON": sys.executable, **os.environ}
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)


def processor(model, name):
    folder = pathlib.Path(model)
    shared = folder / "vocab.spm"
    return sentencepiece.SentencePieceProcessor(model_file=str(shared if shared.exists() else folder / f"{name}.spm"))


def read_lines(path):
    """The text's lines as attend reads them: a last one without LF counts, CRLF ends are stripped, malformed UTF-8 is repaired."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rb") as file:
        *lines, rest = file.read().split(b"\n")
    lines = [line.removesuffix(b"\r") for line in lines] + ([rest] if rest else [])
    return [line.decode("utf-8", "replace") for line in lines]


def attend_outputs(attend, model, lines, options):
    """(text, log-probability) of each line."""
    command = [attend, "translate", "--model", model, "--scores", "--length-penalty", 0, "--allow-unknown", "--split-sentences", "never"]
    command += ["--beam-size", options.beam_size, "--max-length", options.max_length, "--threads", options.threads]
    command += ["--type", {"float32": "f32"}.get(options.type, options.type)]
    given = "".join(line + "\n" for line in lines).encode()
    done = subprocess.run(list(map(str, command)), input=given, capture_output=True, check=True)
    outputs = [line.rsplit(" ||| ", 1) for line in done.stdout.decode().split("\n")[:-1]]
    return [(text, float(score)) for text, score in outputs]


def peer_outputs(converted, model, lines, options):
    """The same from CTranslate2, and its target tokens a second."""
    source, target = processor(model, "source"), processor(model, "target")
    translator = ctranslate2.Translator(
        str(converted), device="cpu", compute_type=options.type, inter_threads=1, intra_threads=options.threads)
    pieces = [source.encode(line, out_type=str) for line in lines]
    begin = time.perf_counter()
    results = translator.translate_batch(
        pieces, beam_size=options.beam_size, max_batch_size=options.batch_size, min_decoding_length=0,
        max_decoding_length=options.max_length, length_penalty=NO_PENALTY, return_scores=True)
    seconds = time.perf_counter() - begin
    tokens = sum(len(result.hypotheses[0]) for result in results)
    outputs = [(target.decode(result.hypotheses[0]), result.scores[0]) for result in results]
    return outputs, tokens / seconds


def compare(ours, theirs):
    """Sentences, the share of equal texts, and how far their log-probabilities are apart.

    What the peer translates to nothing is left out and counted: attend translates no text with a letter or digit to nothing.
    The peer's texts lose the spaces at their ends, as attend's do.
    """
    theirs = [(text.strip(" "), score) for text, score in theirs]
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if b[0].strip()]
    differences = [abs(a[1] - b[1]) for a, b in pairs if a[0] == b[0]]
    return {
        "sentences": len(ours),
        "empty": len(ours) - len(pairs),
        "same": len(differences) / len(pairs) if pairs else float("nan"),
        "largest_difference": max(differences, default=float("nan")),
        "mean_difference": float(np.mean(differences)) if differences else float("nan"),
    }


def attend_speed(options, lines, folder):
    text = pathlib.Path(folder) / "text"
    text.write_bytes("".join(line + "\n" for line in lines).encode())
    command = [options.attend, "bench", "translate", "--model", options.model, "--input", text, "--json"]
    command += ["--type", options.type, "--threads", options.threads, "--batch-size", options.batch_size]
    command += ["--beam-size", options.beam_size, "--length-penalty", 0, "--max-length", options.max_length, "--repeats", 1]
    done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", check=True)
    return json.loads(done.stdout)["target_tokens_per_s"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--source", required=True, nargs="+")
    parser.add_argument("--attend", default=PROGRAM)
    parser.add_argument("--beam-size", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--type", choices=["float32", "int8"], default="float32")
    parser.add_argument("--max-length", type=int, default=256)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=32)
    return parser.parse_args()


def main():
    options = parse()
    beams = options.beam_size
    with tempfile.TemporaryDirectory() as parent:
        folder = pathlib.Path(parent) / "model"
        convert(options.model, folder, options.attend)
        for source in options.source:
            lines = read_lines(source)[: options.limit]
            for options.beam_size in beams:
                ours = attend_outputs(options.attend, options.model, lines, options)
                theirs, peer_rate = peer_outputs(folder, options.model, lines, options)
                rate = attend_speed(options, lines, folder)
                print(json.dumps({
                    "source": source, "beam_size": options.beam_size, "type": options.type, **compare(ours, theirs),
                    "target_tokens_per_s": rate, "peer_target_tokens_per_s": round(peer_rate, 1),
                    "ratio": round(rate / peer_rate, 3) if peer_rate else None}))


if __name__ == "__main__":
    main()
