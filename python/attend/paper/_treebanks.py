"""Treebanks in DATA as `attend train` reads them, a tree a line, by each corpus's split; and text without trees for `attend parse`.
recipes/parsing/trees.py makes the text of the recipes by it. It needs Python alone, not the rest of the package."""

from __future__ import annotations

import gzip
import lzma
import pathlib
import re
from collections.abc import Iterator

PARTS = {"train": "train", "dev": "valid", "test": "test"}  # of a corpus, and as files are called
LONGEST = 100  # words of a tree of IcePaHC to train on; validation and test have all
SHORTEST_RAW, LONGEST_RAW = 5, 40  # words of a sentence without a tree

Node = list["str | Node"]  # a label, and what stands in its bracket: a word or nodes


def trees_in(text: str) -> Iterator[str]:
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


def without_outermost(tree: str) -> str:
    inner = re.fullmatch(r"\( ?(\(.*\)) ?\)", tree)
    return inner[1] if inner and len(list(trees_in(inner[1]))) == 1 else tree


def words_of(tree: str) -> list[str]:
    return [word for tag, word in re.findall(r"\(([^\s()]+) ([^\s()]+)\)", tree) if tag != "-NONE-"]


def treebank(data: pathlib.Path) -> Iterator[tuple[str, str]]:
    """The Penn Treebank's sample, by its lists of files."""
    folder = data / "treebank"
    for part in PARTS:
        for name in (folder / f"{part}.list").read_text(encoding="utf-8").split():
            for tree in trees_in((folder / name).read_text(encoding="utf-8")):
                yield part, without_outermost(tree)


def craft(data: pathlib.Path) -> Iterator[tuple[str, str]]:
    """By its own split."""
    for part in PARTS:
        with gzip.open(data / "craft-treebank" / f"{part}.mrg.gz", "rt", encoding="utf-8") as file:
            for tree in trees_in(file.read()):
                yield part, without_outermost(tree)


def icepahc(data: pathlib.Path) -> Iterator[tuple[str, str]]:
    """By the last digit of the number that ends a tree's ID: 8 dev, 9 test. What has no number is left out."""
    with lzma.open(data / "icepahc" / "finished.psd.xz", "rt", encoding="utf-8") as file:
        text = file.read()
    for tree in trees_in(text):
        number = re.search(r"\(ID [^\s()]*?(\d)\)", tree)
        node = _penn(_node(tree))
        if number is None or node is None:
            continue
        part = {"8": "dev", "9": "test"}.get(number[1], "train")
        line = without_outermost(_line(node))
        if part != "train" or len(words_of(line)) <= LONGEST:
            yield part, line


TREEBANKS = {"treebank": treebank, "craft": craft, "icepahc": icepahc}


def write(name: str, data: pathlib.Path, directory: pathlib.Path) -> None:
    """train.trees, valid.trees and test.trees, and test.words, the words of the test's sentences."""
    lines: dict[str, list[str]] = {part: [] for part in PARTS}
    for part, tree in TREEBANKS[name](data):
        if words_of(tree):
            lines[part].append(tree)
    directory.mkdir(parents=True, exist_ok=True)
    for part, file in PARTS.items():
        _write_lines(directory / f"{file}.trees", lines[part])
    _write_lines(directory / "test.words", [" ".join(words_of(tree)) for tree in lines["test"]])


def _write_lines(path: pathlib.Path, lines: list[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def _node(tree: str) -> Node:
    """The outermost bracket may lack a label: then it is empty."""
    stack: list[Node] = [[""]]
    for bracket, label, word, close in re.findall(r"(\()\s*([^\s()]*)|([^\s()]+)|(\))", tree):
        if bracket:
            stack.append([label])
        elif close:
            node = stack.pop()
            stack[-1].append(node)
        else:
            stack[-1].append(word)
    node = stack[0][1]
    assert isinstance(node, list)
    return node


def _penn(node: Node) -> Node | None:
    """A tree of IcePaHC (Penn's historical style) as the Penn Treebank has it: words without lemma, traces as -NONE-, quotes as ''; ID, CODE
    and META go, and what they leave empty. A word that was split in two stays two, $ where it was cut."""
    label, *children = node
    assert isinstance(label, str)
    if label in ("ID", "CODE", "META"):
        return None
    if len(children) == 1 and isinstance(children[0], str):
        word = children[0]
        if word == "0" or re.match(r"\*(?!-\*$)", word):
            return [label, ["-NONE-", word]]
        cut = re.fullmatch(r"(.+)-(.+)", word)
        return ["''" if label == '"' else label, re.sub("</?dash/?>", "–", cut[1] if cut else word)]
    kept = [each for child in children if isinstance(child, list) and (each := _penn(child)) is not None]
    return [label, *kept] if kept else None


def _line(node: Node) -> str:
    label, *children = node
    return f"({label} {' '.join(child if isinstance(child, str) else _line(child) for child in children)})"


def wikitext(data: pathlib.Path) -> Iterator[list[str]]:
    """WikiText-2's sentences of SHORTEST_RAW to LONGEST_RAW words without an unknown one, divided into words as the Penn Treebank does."""
    with gzip.open(data / "lm" / "wikitext2.train.txt.gz", "rt", encoding="utf-8") as file:
        for line in file:
            if line.lstrip().startswith("="):
                continue  # a heading
            text = re.sub(r" @([-,.])@ ", r"\1", line)
            text = re.sub(r"(\w)n 't\b", r"\1 n't", text)
            for sentence in _sentences(text.split()):
                if SHORTEST_RAW <= len(sentence) <= LONGEST_RAW and not any("<unk>" in word for word in sentence):
                    yield sentence


def _sentences(words: list[str]) -> Iterator[list[str]]:
    """A sentence ends with its mark, and a quotation's end after it, before a word that begins as sentences do."""
    sentence: list[str] = []
    quoted = ended = False
    for word in words:
        closes = word == '"' and quoted
        if ended and not closes and (word[0].isupper() or word[0].isdigit() or word == '"'):
            yield sentence
            sentence = []
        ended = word in (".", "?", "!") or (ended and closes)
        if word == '"':
            word, quoted = "''" if quoted else "``", not quoted
        sentence.append(word)
    if ended:
        yield sentence


def craft_dev(data: pathlib.Path) -> Iterator[list[str]]:
    """The words of CRAFT's dev part."""
    for part, tree in craft(data):
        words = words_of(tree) if part == "dev" else []
        if SHORTEST_RAW <= len(words) <= LONGEST_RAW:
            yield words


RAW_TEXTS = {"wikitext2": wikitext, "craft-dev": craft_dev}


def write_raw(name: str, data: pathlib.Path, path: pathlib.Path) -> None:
    """A sentence a line, its words divided by blanks."""
    _write_lines(path, [" ".join(words) for words in RAW_TEXTS[name](data)])
