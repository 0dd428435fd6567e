"""Treebanks in DATA as `attend train` reads them, a tree a line, by each corpus's split; and text without trees for `attend parse`.
recipes/parsing/trees.py makes the text of the recipes by it. It needs Python alone, not the rest of the package."""

from __future__ import annotations

import gzip
import lzma
import pathlib
import re
from collections.abc import Iterable, Iterator

PARTS = {"train": "train", "dev": "valid", "test": "test"}  # of a corpus, and as files are called
LONGEST = 100  # words of a tree of IcePaHC to train on; validation and test have all
SHORTEST_RAW, LONGEST_RAW = 5, 40  # words of a sentence without a tree

Node = list["str | Node"]  # a label, which may be empty, and what stands in its bracket: a word or nodes


def nodes_in(text: str) -> Iterator[Node]:
    """Each outermost bracket. A word may hold a blank that is not one of ASCII."""
    open_nodes: list[Node] = []
    for found in re.finditer(r"\([ \t\r\n]*([^ \t\r\n()]*)|([^ \t\r\n()]+)|\)", text):
        if found[1] is not None:
            open_nodes.append([found[1]])
        elif not open_nodes:
            continue
        elif found[2] is not None:
            open_nodes[-1].append(found[2])
        else:
            node = open_nodes.pop()
            if open_nodes:
                open_nodes[-1].append(node)
            else:
                yield node


def word_of(node: Node) -> str | None:
    """None: it is a constituent."""
    return node[1] if len(node) == 2 and isinstance(node[1], str) else None


def words_of(node: Node) -> list[str]:
    """All below it, without traces."""
    word = word_of(node)
    if word is not None:
        return [] if node[0] == "-NONE-" else [word]
    return [word for child in node if isinstance(child, list) for word in words_of(child)]


def without_outermost(node: Node) -> Node:
    """What stands alone in a bracket without a label."""
    return node[1] if len(node) == 2 and node[0] == "" and isinstance(node[1], list) else node


def line_of(node: Node) -> str:
    label, *children = node
    return f"({label} {' '.join(child if isinstance(child, str) else line_of(child) for child in children)})"


def simple_trees(text: str) -> Iterator[Node]:
    """Each tree without traces and function tags. Tags of words stay as they are: N-D is a noun in the dative."""
    yield from (tree for tree in map(_simple, nodes_in(text)) if tree is not None)


def _simple(node: Node) -> Node | None:
    label, word = node[0], word_of(node)
    assert isinstance(label, str)
    if label == "-NONE-":
        return None
    if word is not None:
        return [label, word]
    name = label if label.startswith("-") else re.split("(?<=.)[-=|]", label)[0]
    kept = [each for child in node if isinstance(child, list) and (each := _simple(child)) is not None]
    return [name, *kept] if kept else None


def treebank(data: pathlib.Path) -> Iterator[tuple[str, Node]]:
    """The Penn Treebank's sample, by its lists of files."""
    folder = data / "treebank"
    for part in PARTS:
        for name in (folder / f"{part}.list").read_text(encoding="utf-8").split():
            for tree in nodes_in((folder / name).read_text(encoding="utf-8")):
                yield part, without_outermost(tree)


def craft(data: pathlib.Path) -> Iterator[tuple[str, Node]]:
    """By its own split."""
    for part in PARTS:
        with gzip.open(data / "craft-treebank" / f"{part}.mrg.gz", "rt", encoding="utf-8") as file:
            for tree in nodes_in(file.read()):
                yield part, without_outermost(tree)


def icepahc(data: pathlib.Path) -> Iterator[tuple[str, Node]]:
    """By the last digit of the number that ends a tree's ID: 8 dev, 9 test. What has no number is left out."""
    with lzma.open(data / "icepahc" / "finished.psd.xz", "rt", encoding="utf-8") as file:
        text = file.read()
    for tree in nodes_in(text):
        names = [word_of(child) or "" for child in tree if isinstance(child, list) and child[0] == "ID"]
        node = _penn(tree)
        if node is None or not names or not names[0][-1:].isdigit():
            continue
        part = {"8": "dev", "9": "test"}.get(names[0][-1], "train")
        kept = without_outermost(node)
        if part != "train" or len(words_of(kept)) <= LONGEST:
            yield part, kept


TREEBANKS = {"treebank": treebank, "craft": craft, "icepahc": icepahc}


def write(name: str, data: pathlib.Path, directory: pathlib.Path) -> None:
    """train.trees, valid.trees and test.trees, and test.words, the words of the test's sentences."""
    trees: dict[str, list[Node]] = {part: [] for part in PARTS}
    for part, tree in TREEBANKS[name](data):
        if words_of(tree):
            trees[part].append(tree)
    directory.mkdir(parents=True, exist_ok=True)
    for part, file in PARTS.items():
        write_lines(directory / f"{file}.trees", map(line_of, trees[part]))
    write_lines(directory / "test.words", (" ".join(words_of(tree)) for tree in trees["test"]))


def write_lines(path: pathlib.Path, lines: Iterable[str]) -> None:
    """The file appears whole or not at all; what is no file, such as /dev/stdout, gets the lines."""
    text = "".join(line + "\n" for line in lines)
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _penn(node: Node) -> Node | None:
    """A tree of IcePaHC (Penn's historical style) as the Penn Treebank has it: words without lemma, traces as -NONE-, quotes as ''; ID, CODE
    and META go, and what they leave empty. A word that was split in two stays two, $ where it was cut."""
    label, *children = node
    assert isinstance(label, str)
    if label in ("ID", "CODE", "META"):
        return None
    word = word_of(node)
    if word is not None:
        if word == "0" or re.match(r"\*(?!-\*$)", word):
            return [label, ["-NONE-", word]]
        cut = re.fullmatch(r"(.+)-(.+)", word)
        return ["''" if label == '"' else label, re.sub("</?dash/?>", "–", cut[1] if cut else word)]
    kept = [each for child in children if isinstance(child, list) and (each := _penn(child)) is not None]
    return [label, *kept] if kept else None


def wikitext(data: pathlib.Path) -> Iterator[list[str]]:
    """WikiText-2's sentences of SHORTEST_RAW to LONGEST_RAW words without an unknown one, divided into words as the Penn Treebank does. Dashes are
    WikiText's, – and —, as CRAFT has them too."""
    with gzip.open(data / "lm" / "wikitext2.train.txt.gz", "rt", encoding="utf-8") as file:
        for line in file:
            if line.lstrip().startswith("="):
                continue  # a heading
            text = re.sub(r" @([-,.])@ ", r"\1", line)
            text = re.sub(r"(\w)n 't\b", r"\1 n't", text)
            for sentence in _sentences(text.split()):
                if SHORTEST_RAW <= len(sentence) <= LONGEST_RAW and not any("<unk>" in word for word in sentence):
                    yield sentence


def wikitext_penn(data: pathlib.Path) -> Iterator[list[str]]:
    """The same with the dash of the Penn Treebank, but for – between two numbers."""
    for sentence in wikitext(data):
        yield re.sub(r"(?<!\S)(—|(?<!\d )–|–(?! \d))(?!\S)", "--", " ".join(sentence)).split(" ")


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


RAW_TEXTS = {"wikitext2": wikitext, "wikitext2-penn": wikitext_penn, "craft-dev": craft_dev}


def write_raw(name: str, data: pathlib.Path, path: pathlib.Path) -> None:
    """A sentence a line, its words divided by blanks."""
    write_lines(path, (" ".join(words) for words in RAW_TEXTS[name](data)))
