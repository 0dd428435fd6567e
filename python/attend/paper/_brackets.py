"""How much heads look along the brackets of trees, against what their distance alone would give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import attend
from attend.paper._cells import Result

Array = NDArray[np.float64]


class Tree(NamedTuple):
    words: list[str]
    spans: list[tuple[int, int, str]]  # of constituents, the widest and outer ones first: first word, the word after the last, label


def trees(text: str) -> Iterator[Tree]:
    """Of a file of the Penn Treebank, without traces and function tags."""
    open_at: list[tuple[str, int]] = []
    words: list[str] = []
    spans: list[tuple[int, int, str]] = []
    for label, word, close in re.findall(r"\(\s*([^\s()]*)(?:\s+([^\s()]+)\s*\))?|(\))", text):
        if close:
            name, begin = open_at.pop()
            if len(words) > begin and name:
                spans.append((begin, len(words), re.sub(r"(?<=.)[-=].*", "", name)))
            if not open_at:
                if words:
                    yield Tree(words, sorted(reversed(spans), key=lambda span: (span[0] - span[1], span[0])))
                words, spans = [], []
        elif word:
            if label != "-NONE-":
                words.append(word)
        else:
            open_at.append((label, len(words)))


def relations(tree: Tree) -> list[list[str]]:
    """For each two words the label of the smallest constituent that holds both; empty for a word and itself."""
    found = [[""] * len(tree.words) for _ in tree.words]
    for begin, end, label in tree.spans:  # narrower ones come later
        for i in range(begin, end):
            for j in range(begin, end):
                if i != j:
                    found[i][j] = label
    return found


def of_words(weights: Array, pieces: list[str]) -> Array:
    """[layers, heads, words, words] of a head's weights between pieces: a word's pieces look at all pieces of another."""
    starts = [i for i, piece in enumerate(pieces) if piece.startswith("▁")]
    if not starts or starts[0] != 0:
        return np.zeros((*weights.shape[:2], 0, 0))
    seen = np.add.reduceat(weights[:, :, : len(pieces), : len(pieces)], starts, axis=3)
    summed = np.add.reduceat(seen, starts, axis=2)
    lengths = np.diff([*starts, len(pieces)])
    return np.asarray(summed / lengths[:, None], dtype=np.float64)


def read_words(translator: attend.Translator, text: str, first: int) -> Array | None:
    """What an encoder's heads look at between the words of a text, without eos; None where its tokens do not tell them apart.

    The encoder reads `first` ids before the text's.
    """
    vocabulary = translator.source_vocabulary
    if vocabulary is None:
        return None
    found = translator.attention(text, "")
    own = slice(first, first + len(vocabulary.encode(text)))
    weights = of_words(np.asarray(found.encoder, dtype=np.float64)[:, :, own, own], found.source_pieces[own])
    return weights if weights.shape[2] == len(text.split()) else None


class Relations:
    """Sums over sentences."""

    def __init__(self, layers: int, heads: int) -> None:
        self.shape = (layers, heads)
        self.weights: dict[str, Array] = {}
        self.by_distance: dict[str, Array] = {}
        self.pairs: dict[str, int] = {}
        self.words = self.sentences = 0

    def add(self, weights: Array, tree: Tree) -> None:
        places = np.arange(len(tree.words))
        distance = places - places[:, None]
        usual = np.zeros_like(weights)  # of a head that looks as far in this sentence, and at nothing else
        for d in np.unique(distance):
            where = distance == d
            usual[:, :, where] = weights[:, :, where].mean(-1, keepdims=True)
        labels = np.array(relations(tree))
        for label in np.unique(labels):
            if not label:
                continue
            where = labels == label
            for sums, of in ((self.weights, weights), (self.by_distance, usual)):
                sums.setdefault(str(label), np.zeros(self.shape))[:] += of[:, :, where].sum(-1)
            self.pairs[str(label)] = self.pairs.get(str(label), 0) + int(where.sum())
        self.words += len(tree.words)
        self.sentences += 1

    def result(self, least_pairs: int = 200) -> Result:
        """For each label the share of a word's weight that goes along it, and the share that the pairs' distances alone would give."""
        rows: list[dict[str, Any]] = [
            {"label": label, "pairs": pairs, "share": (self.weights[label] / self.words).tolist(),
             "by_distance": (self.by_distance[label] / self.words).tolist()}
            for label, pairs in sorted(self.pairs.items(), key=lambda item: -item[1]) if pairs >= least_pairs]
        return {"sentences": self.sentences, "words": self.words, "relations": rows}
