"""How much heads look along the brackets of trees, against what their distance alone would give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import attend
from attend.paper._cells import Result
from attend.paper._treebanks import Node, simple_trees, word_of, words_of

Array = NDArray[np.float64]


class Tree(NamedTuple):
    words: list[str]
    spans: list[tuple[int, int, str]]  # of constituents, the widest and outer ones first: first word, the word after the last, label


def trees(text: str) -> Iterator[Tree]:
    """Of a file of the Penn Treebank, without traces and function tags."""
    for node in simple_trees(text):
        spans: list[tuple[int, int, str]] = []
        _add_spans(node, 0, spans)
        yield Tree(words_of(node), sorted(spans, key=lambda span: (span[0] - span[1], span[0])))


def _add_spans(node: Node, begin: int, spans: list[tuple[int, int, str]]) -> None:
    """Adds constituents with a label, a node's before those in it, where its first word is `begin`."""
    if word_of(node) is not None:
        return
    label, *children = node
    if isinstance(label, str) and label:
        spans.append((begin, begin + len(words_of(node)), label))
    for child in children:
        if isinstance(child, list):
            _add_spans(child, begin, spans)
            begin += len(words_of(child))


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
