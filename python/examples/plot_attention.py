#!/usr/bin/env python3
"""Draws what a model's output words look at in the source, one panel a head. Needs matplotlib.

usage: plot_attention.py MODEL SOURCE [--target TEXT] [--layer N] [--output attention.png]
"""

import argparse

import attend
import matplotlib.figure


def draw(found: attend.Attention, layer: int) -> matplotlib.figure.Figure:
    heads = found.cross[layer]
    width, height = 1 + 0.3 * len(found.source_pieces), 1.5 + 0.3 * len(found.target_pieces)
    figure = matplotlib.figure.Figure(figsize=(width * len(heads), height), layout="constrained")
    panels = figure.subplots(1, len(heads), squeeze=False)[0]
    for number, (panel, weights) in enumerate(zip(panels, heads, strict=True), 1):
        panel.imshow(weights, cmap="Blues", vmin=0, vmax=1)
        panel.set_title(f"head {number}")
        panel.set_xticks(range(len(found.source_pieces)), found.source_pieces, rotation=90)
        panel.set_yticks(range(len(found.target_pieces)), found.target_pieces)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description="Draws a model's cross-attention, one panel a head.")
    parser.add_argument("model")
    parser.add_argument("source")
    parser.add_argument("--target", help="where it is not given, the model translates")
    parser.add_argument("--layer", type=int, default=0, help="decoder layer, from 1; 0: the last")
    parser.add_argument("--output", default="attention.png")
    arguments = parser.parse_args()
    try:
        found = attend.Translator(arguments.model).attention(arguments.source, arguments.target)
        layers = len(found.cross)
        if not 0 <= arguments.layer <= layers:
            parser.error(f"--layer is {arguments.layer}, expected 0 to {layers}")
        draw(found, arguments.layer - 1).savefig(arguments.output)
    except (attend.Error, OSError, ValueError) as error:  # ValueError: matplotlib's, for a type of file it can't write
        parser.exit(1, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    main()
