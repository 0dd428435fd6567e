#!/usr/bin/env python3
"""Reads text with attend and with Hugging Face's tokenizers, from one tokenizer.json, on one thread each.

usage: bench/compare_tokenizers.py --tokenizer FILE --text FILE... [--rounds 3] [--build build]

Prints a JSON line for each text: lines, tokens, lines of which the ids differ, and megabytes a second, each side's best round.
Both sides are called from Python. tokenizers is measured line by line, and with all lines in one call.
"""

import argparse
import json
import os
import pathlib
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import tokenizers  # noqa: E402


def best(rounds, bytes_, read):
    seconds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        read()
        seconds.append(time.perf_counter() - begin)
    return round(bytes_ / min(seconds) / 1e6, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--text", required=True, nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--build", default=pathlib.Path(__file__).resolve().parents[1] / "build")
    options = parser.parse_args()
    sys.path.insert(0, str(pathlib.Path(options.build) / "python"))
    import attend

    peer, vocabulary = tokenizers.Tokenizer.from_file(options.tokenizer), attend.Vocabulary(options.tokenizer)
    peer.no_truncation()
    peer.no_padding()
    for text in options.text:
        lines = pathlib.Path(text).read_text(encoding="utf-8").split("\n")
        expected = [found.ids for found in peer.encode_batch(lines, add_special_tokens=False)]
        size = sum(len(line.encode()) + 1 for line in lines)
        print(json.dumps({
            "text": text, "lines": len(lines), "tokens": sum(map(len, expected)),
            "different": sum(vocabulary.encode(line) != ids for line, ids in zip(lines, expected)),
            "attend": best(options.rounds, size, lambda: [vocabulary.encode(line) for line in lines]),
            "tokenizers_by_line": best(options.rounds, size, lambda: [peer.encode(line, add_special_tokens=False) for line in lines]),
            "tokenizers_batch": best(options.rounds, size, lambda: peer.encode_batch(lines, add_special_tokens=False))}))


if __name__ == "__main__":
    main()
