#!/usr/bin/env python3
"""A probabilistic context-free grammar beside `attend parse`: read off a treebank, binarised to the right with a parent's label and one
sibling's (Klein and Manning 2003, h = 1, v = 2 with --parents), exact CKY.

usage: parsing_pcfg.py TRAIN.trees TEST.words [--parents] > parsed.trees

Words seen less than twice count as unknown, by their shape. Prints a tree a line; where there is none, a flat one.
"""

import collections
import math
import re
import sys


def read(path):
    for line in open(path, encoding="utf-8"):
        stack = [[None, []]]
        for token in re.findall(r"\(|\)|[^\s()]+", line):
            if token == "(":
                stack.append([None, []])
            elif token == ")":
                node = stack.pop()
                stack[-1][1].append(node)
            elif stack[-1][0] is None:
                stack[-1][0] = token
            else:
                stack[-1][1] = token
        yield from (tree for tree in map(simple, stack[0][1]) if tree)


def simple(node):
    label, children = node
    if isinstance(children, str):
        return None if label == "-NONE-" else (label, children)
    kept = [child for child in map(simple, children) if child]
    name = label or "TOP"  # which evalb leaves out
    return (name if name.startswith("-") else re.split("[-=|]", name)[0], kept) if kept else None


def shape(word):
    kinds = ("C" if word[:1].isupper() else "c") + ("d" if any(c.isdigit() for c in word) else "") + ("-" if "-" in word else "")
    return f"UNK{kinds}{word[-2:].lower() if word[-1:].isalpha() else ''}"


def rules_of(node, parent, parents, rules, words):
    label, children = node
    if isinstance(children, str):
        words.append((label, children))
        return label
    name = f"{label}^{parent}" if parents else label
    parts = [rules_of(child, label, parents, rules, words) for child in children]
    left = name
    while len(parts) > 2:
        rest = f"{name}|{parts[0].split('^')[0]}"
        rules.append((left, parts[0], rest))
        left, parts = rest, parts[1:]
    rules.append((left, *parts))
    return name


def train(path, parents):
    counts, totals, lexicon, tags, seen = (collections.Counter() for _ in range(5))
    pairs, roots = [], collections.Counter()
    for tree in read(path):
        rules, words = [], []
        roots[rules_of(tree, "", parents, rules, words)] += 1
        for rule in rules:
            counts[rule] += 1
            totals[rule[0]] += 1
        pairs += words
        seen.update(word for _, word in words)
    for tag, word in pairs:
        for form in {word, shape(word)} if seen[word] < 3 else {word}:
            lexicon[tag, form] += 1
        tags[tag] += 1
    log = {rule: math.log(count / totals[rule[0]]) for rule, count in counts.items()}
    emit = collections.defaultdict(dict)
    for (tag, form), count in lexicon.items():
        emit[form][tag] = math.log(count / tags[tag])
    unary, binary = collections.defaultdict(list), collections.defaultdict(list)
    for (left, *right), score in log.items():
        (unary[right[0]] if len(right) == 1 else binary[right[0]]).append((left, *right[1:], score))
    open_tags = {tag: math.log(1e-6) for tag in ("NN", "NNP", "NNS", "JJ", "VB", "RB", "CD")}
    total = sum(roots.values())
    return emit, unary, binary, open_tags, {root: math.log(count / total) for root, count in roots.items()}


def close(cell, unary):
    waiting = list(cell)
    while waiting:
        label = waiting.pop()
        for left, score in unary.get(label, ()):
            found = cell[label][0] + score
            if left not in cell or found > cell[left][0]:
                cell[left] = (found, label)
                waiting.append(left)


def parse(words, grammar):
    emit, unary, binary, open_tags, roots = grammar
    n = len(words)
    chart = {}
    for i, word in enumerate(words):
        known = emit.get(word) or emit.get(shape(word)) or open_tags
        chart[i, i + 1] = {tag: (score, (word,)) for tag, score in known.items()}
        close(chart[i, i + 1], unary)
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            cell = chart[i, i + width] = {}
            for k in range(i + 1, i + width):
                right = chart[k, i + width]
                for label, (score, _) in chart[i, k].items():
                    for left, other, own in binary.get(label, ()):
                        if other in right:
                            found = score + right[other][0] + own
                            if left not in cell or found > cell[left][0]:
                                cell[left] = (found, (k, label, other))
            close(cell, unary)
    top = max((root for root in roots if root in chart[0, n]), key=lambda root: chart[0, n][root][0] + roots[root], default=None)
    if top is not None:
        return write(chart, 0, n, top)
    tags = [max((tag for tag, (_, back) in chart[i, i + 1].items() if isinstance(back, tuple)), key=lambda tag: chart[i, i + 1][tag][0]) for i in range(n)]
    return f"(S {' '.join(f'({tag} {word})' for tag, word in zip(tags, words))})"


def write(chart, i, j, label):
    """Flat again: what binarising made has no bracket."""
    _, back = chart[i, j][label]
    if isinstance(back, str):
        inside = write(chart, i, j, back)
    elif len(back) == 1:
        return f"({label} {back[0]})"
    else:
        k, left, right = back
        inside = write(chart, i, k, left) + " " + write(chart, k, j, right)
    return inside if "|" in label else f"({label.split('^')[0]} {inside})"


def main():
    grammar = train(sys.argv[1], "--parents" in sys.argv)
    for line in open(sys.argv[2], encoding="utf-8"):
        print(parse(line.split(), grammar), flush=True)


if __name__ == "__main__":
    main()
