"""How much heads look along the brackets of trees, against what their distance alone would give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attend.paper._cells import Result

Array = NDArray[np.float64]
FARTHEST = 20  # words; what is farther away has one mean


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


class Relations:
    """Sums over sentences."""

    def __init__(self, layers: int, heads: int) -> None:
        self.at_distance = np.zeros((layers, heads, 2 * FARTHEST + 1))
        self.pairs_at_distance = np.zeros(2 * FARTHEST + 1)
        self.weights: dict[str, Array] = {}
        self.pairs: dict[str, Array] = {}  # by distance
        self.shape = (layers, heads)
        self.words = self.sentences = 0

    def add(self, weights: Array, tree: Tree) -> None:
        count = len(tree.words)
        places = np.arange(count)
        distance = np.clip(places - places[:, None], -FARTHEST, FARTHEST) + FARTHEST
        labels = np.array(relations(tree))
        for d in np.unique(distance):
            where = distance == d
            self.at_distance[:, :, d] += weights[:, :, where].sum(-1)
            self.pairs_at_distance[d] += where.sum()
        for label in np.unique(labels):
            if not label:
                continue
            where = labels == label
            self.weights.setdefault(str(label), np.zeros(self.shape))[:] += weights[:, :, where].sum(-1)
            self.pairs.setdefault(str(label), np.zeros(2 * FARTHEST + 1))[:] += np.bincount(distance[where], minlength=2 * FARTHEST + 1)
        self.words += count
        self.sentences += 1

    def result(self, least_pairs: int = 200) -> Result:
        """For each label the share of a word's weight that goes along it, and the share that the pairs' distances alone would give."""
        mean = self.at_distance / np.maximum(self.pairs_at_distance, 1)
        rows: list[dict[str, Any]] = []
        for label, pairs in sorted(self.pairs.items(), key=lambda item: -item[1].sum()):
            if pairs.sum() >= least_pairs:
                rows.append({"label": label, "pairs": int(pairs.sum()), "share": (self.weights[label] / self.words).tolist(),
                             "by_distance": ((mean * pairs).sum(-1) / self.words).tolist()})
        return {"sentences": self.sentences, "words": self.words, "relations": rows}
