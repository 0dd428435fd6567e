"""A probabilistic context-free grammar beside a parser: read off a treebank, binarised to the right with a parent's label and one
sibling's (Klein and Manning 2003, v = 2 with `parents`, h = 1), and CKY. bench/parsing_pcfg.py is its command. It needs Python alone,
not the rest of the package."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

RARE = 3  # seen less often, a word lends its tag to unknown ones of its shape
BEAM = 6.0  # natural logarithm: a label of a cell that is so much less likely than the best one is dropped

Node = list[Any]  # as _treebanks reads it: a label, and a word or nodes
Scores = dict[str, tuple[float, Any]]  # of a cell: by label its log-probability, and what it was made of


@dataclass
class Grammar:
    emissions: dict[str, dict[str, float]]  # by word or shape, then by tag
    open_tags: dict[str, float]  # of a word whose shape is unknown, too
    unary: dict[str, list[tuple[str, float]]]  # by the child
    binary: dict[str, dict[str, list[tuple[str, float]]]]  # by the left child, then by the right one
    roots: dict[str, float]
    priors: dict[str, float]  # of labels, for pruning


def shape(word: str) -> str:
    kinds = ("C" if word[:1].isupper() else "c") + ("d" if any(c.isdigit() for c in word) else "") + ("-" if "-" in word else "")
    return f"UNK{kinds}{word[-2:].lower() if word[-1:].isalpha() else ''}"


def _rules_of(node: Node, parent: str, parents: bool, rules: Counter[tuple[str, ...]], words: list[tuple[str, str]]) -> str:
    """Counts the node's rules and those below it; returns its symbol."""
    label, children = node[0] or "TOP", node[1:]  # TOP evalb leaves out
    if isinstance(children[0], str):
        words.append((label, children[0]))
        return label
    name = f"{label}^{parent}" if parents else f"{label}^"
    parts = [_rules_of(child, label, parents, rules, words) for child in children]
    left = name
    while len(parts) > 2:
        rest = f"{name}|{parts[0].split('^')[0]}"
        rules[left, parts[0], rest] += 1
        left, parts = rest, parts[1:]
    rules[(left, *parts)] += 1
    return name


def _lexicon(words: list[tuple[str, str]]) -> tuple[dict[str, dict[str, float]], dict[str, float], Counter[str]]:
    seen, tags = Counter(word for _, word in words), Counter(tag for tag, _ in words)
    forms = Counter((tag, form) for tag, word in words for form in ({word, shape(word)} if seen[word] < RARE else {word}))
    emissions: dict[str, dict[str, float]] = defaultdict(dict)
    for (tag, form), count in forms.items():
        emissions[form][tag] = math.log(count / tags[tag])
    rare = Counter(tag for tag, word in words if seen[word] < RARE)
    return dict(emissions), {tag: math.log(count / tags[tag]) for tag, count in rare.items()}, tags


def learn(trees: Iterable[Node], parents: bool) -> Grammar:
    """Of trees without traces and function tags."""
    rules: Counter[tuple[str, ...]] = Counter()
    roots: Counter[str] = Counter()
    words: list[tuple[str, str]] = []
    for tree in trees:
        roots[_rules_of(tree, "", parents, rules, words)] += 1
    totals: Counter[str] = Counter()
    for (left, *_), count in rules.items():
        totals[left] += count
    unary: dict[str, list[tuple[str, float]]] = defaultdict(list)
    binary: dict[str, dict[str, list[tuple[str, float]]]] = defaultdict(lambda: defaultdict(list))
    for (left, *right), count in rules.items():
        score = math.log(count / totals[left])
        (unary[right[0]] if len(right) == 1 else binary[right[0]][right[1]]).append((left, score))
    emissions, open_tags, tags = _lexicon(words)
    symbols = totals + tags
    return Grammar(emissions, open_tags, unary, binary, {root: math.log(count / roots.total()) for root, count in roots.items()},
                   {symbol: math.log(count / symbols.total()) for symbol, count in symbols.items()})


class _Cell:
    """What may stand over a stretch of words."""

    def __init__(self, scores: Scores, grammar: Grammar) -> None:
        """With chains of one child each; without what is far less likely than the best."""
        waiting = list(scores)
        while waiting:
            label = waiting.pop()
            for left, score in grammar.unary.get(label, ()):
                found = scores[label][0] + score
                if left not in scores or found > scores[left][0]:
                    scores[left] = (found, label)
                    waiting.append(left)
        least = max((score + grammar.priors[label] for label, (score, _) in scores.items()), default=0.0) - BEAM
        self.scores = {label: entry for label, entry in scores.items() if entry[0] + grammar.priors[label] >= least}
        self.left_children = [(label, score, rules) for label, (score, _) in self.scores.items() if (rules := grammar.binary.get(label))]


def _join(left: _Cell, right: Scores, k: int, scores: Scores) -> None:
    for label, score, rules in left.left_children:
        for other in rules.keys() & right.keys():
            both = score + right[other][0]
            for made, own in rules[other]:
                if made not in scores or both + own > scores[made][0]:
                    scores[made] = (both + own, (k, label, other))


def parse(words: list[str], grammar: Grammar) -> str:
    """A tree in a line; a flat one where the grammar has none, and nothing of no words."""
    if not words:
        return ""
    count = len(words)
    chart: dict[tuple[int, int], _Cell] = {}
    tags: list[str] = []
    for i, word in enumerate(words):
        known = grammar.emissions.get(word) or grammar.emissions.get(shape(word)) or grammar.open_tags
        tags.append(max(known, key=lambda tag: known[tag] + grammar.priors[tag]))
        chart[i, i + 1] = _Cell({tag: (score, (word,)) for tag, score in known.items()}, grammar)
    for width in range(2, count + 1):
        for i in range(count - width + 1):
            scores: Scores = {}
            for k in range(i + 1, i + width):
                _join(chart[i, k], chart[k, i + width].scores, k, scores)
            chart[i, i + width] = _Cell(scores, grammar)
    whole = chart[0, count].scores
    top = max((root for root in grammar.roots if root in whole), key=lambda root: whole[root][0] + grammar.roots[root], default=None)
    return _written(chart, 0, count, top) if top is not None else f"(S {' '.join(f'({tag} {word})' for tag, word in zip(tags, words, strict=True))})"


def _written(chart: dict[tuple[int, int], _Cell], i: int, j: int, label: str) -> str:
    """Flat again: what binarising made has no bracket."""
    _, made_of = chart[i, j].scores[label]
    if isinstance(made_of, str):
        inside = _written(chart, i, j, made_of)
    elif len(made_of) == 1:
        return f"({label} {made_of[0]})"
    else:
        k, left, right = made_of
        inside = _written(chart, i, k, left) + " " + _written(chart, k, j, right)
    return inside if "|" in label else f"({label.split('^')[0]} {inside})"
