#!/usr/bin/env python3
"""Makes the treebanks of the recipes of parsing from the corpora in DATA: train.trees, valid.trees and test.trees in DIRECTORY, a
tree a line as the corpus has it, without the outermost bracket where that has no label, and test.words, the words of the test's
sentences, as `attend parse` reads them.

usage: trees.py treebank|craft DATA DIRECTORY

treebank: the Penn Treebank's sample, by its lists of files. craft: the CRAFT corpus, by its own split.
"""

import gzip
import pathlib
import re
import sys


def trees_in(text):
    """Each outermost bracket on one line; a word may hold a blank of another kind."""
    depth, begin = 0, 0
    for found in re.finditer(r"[()]", text):
        if found[0] == "(":
            begin = found.start() if depth == 0 else begin
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                yield re.sub("[ \t\r\n]+", " ", text[begin : found.end()])


def without_outermost(tree):
    inner = re.fullmatch(r"\( ?(\(.*\)) ?\)", tree)
    return inner[1] if inner and len(list(trees_in(inner[1]))) == 1 else tree


def treebank(data, part):
    folder = data / "treebank"
    for name in (folder / f"{part}.list").read_text(encoding="utf-8").split():
        yield (folder / name).read_text(encoding="utf-8")


def craft(data, part):
    with gzip.open(data / "craft-treebank" / f"{part}.mrg.gz", "rt", encoding="utf-8") as file:
        yield file.read()


def words_of(tree):
    return " ".join(word for tag, word in re.findall(r"\(([^\s()]+) ([^\s()]+)\)", tree) if tag != "-NONE-")


def main():
    texts = {"treebank": treebank, "craft": craft}[sys.argv[1]]
    data, directory = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    directory.mkdir(parents=True, exist_ok=True)
    for part, name in (("train", "train"), ("dev", "valid"), ("test", "test")):
        lines = [without_outermost(tree) for text in texts(data, part) for tree in trees_in(text)]
        lines = [line for line in lines if words_of(line)]
        (directory / f"{name}.trees").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        if name == "test":
            (directory / "test.words").write_text("".join(words_of(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
