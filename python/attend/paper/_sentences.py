"""Figures 3 to 5 of the paper: what heads of an encoder look at in its two sentences."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import attend
from attend.paper._brackets import Array, read_words
from attend._plots import COLOURS, drawing
from attend._report import Plot

DISTANCE = (
    "It is in this spirit that a majority of American governments have passed new laws since 2009 making the registration or voting "
    "process more difficult .")
ANAPHORA = "The Law will never be perfect , but its application should be just - this is what we are missing , in my opinion ."


class Sentence(NamedTuple):
    words: list[str]
    weights: Array  # of the encoder, [layers, heads, words, words]

    def place(self, word: str) -> int:
        return self.words.index(word)


def read(translator: attend.Translator, text: str, first: int) -> Sentence | None:
    """None where the model's tokens do not tell words apart. The encoder reads `first` ids before them."""
    weights = read_words(translator, text, first)
    return None if weights is None else Sentence(text.split(), weights)


def best_heads(scores: Array, count: int) -> list[tuple[int, int]]:
    """Layer and head of the highest of scores [layers, heads]."""
    order = np.argsort(-scores, axis=None, kind="stable")[:count]
    return [(int(place // scores.shape[1]), int(place % scores.shape[1])) for place in order]


def name_of(head: tuple[int, int]) -> str:
    return f"layer {head[0] + 1}, head {head[1] + 1}"


def draw_lines(axis: Any, words: list[str], lines: list[tuple[Array, str]], only: list[int] | None = None) -> None:
    """Words on both sides; a line from each query on the left to each key on the right, as strong as its share of the greatest weight."""
    queries = range(len(words)) if only is None else only
    greatest = max(float(weights[list(queries)].max()) for weights, _ in lines)
    places = -np.arange(len(words), dtype=float)
    for side, where in ((0.0, "right"), (1.0, "left")):
        for word, place in zip(words, places, strict=True):
            axis.text(side - 0.03 if side == 0 else side + 0.03, place, word, ha=where, va="center", fontsize=8)
    for number, (weights, colour) in enumerate(lines):
        apart = 0.14 * (number - (len(lines) - 1) / 2)  # so that heads do not hide each other
        for query in queries:
            for key in range(len(words)):
                if weights[query, key] > 0.03:
                    axis.plot([0, 1], [places[query], places[key] + apart], color=colour, alpha=float(weights[query, key] / greatest), linewidth=1.8)
    axis.set(xlim=(-0.55, 1.55), ylim=(-len(words) + 0.2, 0.8))
    axis.axis("off")


def figure3(sentence: Sentence) -> tuple[Plot, dict[str, Any]]:
    """What "making" looks at: all heads of the layer of the head that looks most at "more difficult"."""
    making, more, difficult = (sentence.place(word) for word in ("making", "more", "difficult"))
    scores = sentence.weights[:, :, making, more] + sentence.weights[:, :, making, difficult]
    best = best_heads(scores, 1)[0]
    layer = sentence.weights[best[0]]
    with drawing(1, 6.2) as (result, axes):
        draw_lines(axes[0], sentence.words, [(layer[head], COLOURS[head % len(COLOURS)]) for head in range(len(layer))], [making])
    weight = float(scores[best])
    return Plot(result.svg, f"Figure 3: what “making” looks at, all heads of layer {best[0] + 1}, a colour each. Head {best[1] + 1} gives “more” and “difficult” "
                f"{weight:.2f} of its weight; spread evenly they would get {2 / len(sentence.words):.2f}."), {
        "layer": best[0] + 1, "head": best[1] + 1, "weight": weight, "even": 2 / len(sentence.words)}


def figure4(sentence: Sentence) -> tuple[Plot, dict[str, Any]]:
    """What "its" looks at: the two heads that look most at what it stands for."""
    its, law, application = (sentence.place(word) for word in ("its", "Law", "application"))
    scores = sentence.weights[:, :, its, law] + sentence.weights[:, :, its, application]
    heads = best_heads(scores, 2)
    with drawing(2, 5.6) as (result, axes):
        draw_lines(axes[0], sentence.words, [(sentence.weights[heads[0]], COLOURS[0])])
        draw_lines(axes[1], sentence.words, [(sentence.weights[head], COLOURS[i]) for i, head in enumerate(heads)], [its])
    found = [{"layer": layer + 1, "head": head + 1, "law": float(sentence.weights[layer, head, its, law]),
              "application": float(sentence.weights[layer, head, its, application])} for layer, head in heads]
    return Plot(result.svg, f"Figure 4: left all of {name_of(heads[0])}, right “its” alone, of that head and of {name_of(heads[1])}. In the first “its” gives “Law” "
                f"{found[0]['law']:.2f} and “application” {found[0]['application']:.2f} of its weight."), {"heads": found}


def figure5(sentence: Sentence, gains: Array | None) -> tuple[Plot, dict[str, Any]]:
    """Two heads that look along the sentence's structure: those of `gains`, or those that look least evenly."""
    looks = "which follow the brackets of trees most, against their distance"
    if gains is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = -np.nansum(sentence.weights * np.log(sentence.weights), axis=3).mean(2)
        gains = -entropy
        looks = "which look least evenly"
    heads = best_heads(gains, 2)
    with drawing(2, 5.6) as (result, axes):
        for i, head in enumerate(heads):
            draw_lines(axes[i], sentence.words, [(sentence.weights[head], COLOURS[2 * i + 2])])
    return Plot(result.svg, f"Figure 5: {name_of(heads[0])} and {name_of(heads[1])}, {looks}."), {
        "heads": [{"layer": layer + 1, "head": head + 1} for layer, head in heads]}
