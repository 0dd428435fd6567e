#!/usr/bin/env python3
"""Makes the texts of the recipes of text to text from the corpora in DATA: train, valid and test, .source and .target, line by
line, in DIRECTORY.

webnlg: triples to English, `subject | property | object && ...`, a line for each of an entry's texts in training. valid and test
have a line an entry, with up to three references as the challenge of 2017 had them: .target and .target2 and .target3, where an
empty line is no reference. test is of the categories of training; test_all has the five others too. cogs: sentences to logical
forms. scan: commands to actions, the simple split; its last 728 training lines are for validation. multi30k: English to German,
the first 2,000 pairs; the others' two sides are text.en and text.de, for denoising.

example: recipes/text_to_text/pairs.py webnlg DATA DATA/text_to_text/webnlg
"""

import argparse
import gzip
import json
import pathlib
import re
import sys

UNSEEN = {"Artist", "Athlete", "CelestialBody", "MeanOfTransportation", "Politician"}
REFERENCES = 3


def read(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as file:
        return file.read().removesuffix("\n").split("\n")


def in_words(name):
    """Of a subject, property or object: `cityServed` and `New_York` as words; quotes around a text go."""
    name = name.replace("_", " ").strip().strip('"').strip()
    return re.sub(r"\s+", " ", name)


def linearised(triples):
    lines = []
    for triple in triples:
        subject, name, target = (in_words(part) for part in triple.split(" | "))
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
        lines.append(f"{subject} | {name} | {target}")
    return " && ".join(lines)


def webnlg(data):
    texts = {}
    for part, name in (("train", "train"), ("dev", "valid"), ("test", "test")):
        entries = [json.loads(line) for line in read(data / "webnlg" / f"{part}.jsonl.gz")]
        entries = [entry for entry in entries if entry["lex"]]
        if name == "train":
            pairs = [(linearised(entry["triples"]), text) for entry in entries for text in entry["lex"]]
            texts["train.source"], texts["train.target"] = zip(*pairs)
            continue
        parts = {name: entries}
        if name == "test":
            parts = {"test": [entry for entry in entries if entry["category"] not in UNSEEN], "test_all": entries}
        for output, chosen in parts.items():
            texts[f"{output}.source"] = [linearised(entry["triples"]) for entry in chosen]
            for number in range(REFERENCES):
                references = [entry["lex"][number] if number < len(entry["lex"]) else "" for entry in chosen]
                texts[f"{output}.target{number + 1 if number else ''}"] = references
    return texts


def columns(pairs, name):
    source, target = zip(*pairs)
    return {f"{name}.source": source, f"{name}.target": target}


def cogs(data):
    texts = {}
    for part, name in (("train", "train"), ("dev", "valid"), ("test", "test")):
        texts |= columns((line.split("\t")[:2] for line in read(data / "scan-cogs" / f"cogs_{part}.tsv.gz")), name)
    return texts


def scan(data):
    def pairs(part):
        lines = read(data / "scan-cogs" / f"scan_{part}_simple.txt.gz")
        return [re.fullmatch(r"IN: (.*) OUT: (.*)", line).groups() for line in lines]

    train = pairs("train")
    return columns(train[:-728], "train") | columns(train[-728:], "valid") | columns(pairs("test"), "test")


def multi30k(data, few=2000):
    texts = {}
    for code, side in (("en", "source"), ("de", "target")):
        lines = read(data / "multi30k" / f"train.{code}")
        texts[f"train.{side}"], texts[f"text.{code}"] = lines[:few], lines[few:]
        texts[f"valid.{side}"] = read(data / "multi30k" / f"val.{code}")
        texts[f"test.{side}"] = read(data / "multi30k" / f"test_2016_flickr.{code}")
    return texts


def main():
    kinds = {"webnlg": webnlg, "cogs": cogs, "scan": scan, "multi30k": multi30k}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=kinds)
    parser.add_argument("data", metavar="DATA", type=pathlib.Path)
    parser.add_argument("directory", metavar="DIRECTORY", type=pathlib.Path)
    options = parser.parse_args()
    try:
        texts = kinds[options.name](options.data)
        options.directory.mkdir(parents=True, exist_ok=True)
        for file, lines in texts.items():
            (options.directory / file).write_text("".join(re.sub(r"[\r\n]+", " ", line) + "\n" for line in lines), encoding="utf-8")
    except OSError as error:
        sys.exit(f"pairs.py: '{error.filename or options.data}': {error.strerror or error}")


if __name__ == "__main__":
    main()
