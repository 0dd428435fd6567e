#!/usr/bin/env python3
"""Writes the text of the demo's language model: short tales by a small grammar of our own, one a paragraph.

usage: tools/demo_tales.py FOLDER     train.txt and valid.txt; the same bytes on every machine and Python version
"""

import pathlib
import sys

NAMES = "Ada Ben Clara Dan Eva Finn Greta Hugo".split()
ANIMALS = "cat dog bird horse fox goat".split()
COLOURS = "red blue green white grey golden".split()
PLACES = ["the river", "an old bridge", "the market", "a small house", "the hill", "a dark wood"]
THINGS = "key coat lamp letter basket ring".split()
WEATHER = ["It rained all day", "The sun was warm", "Snow lay on the roofs", "The wind was cold", "It was a quiet evening"]
TALE = (
    "{name} had a {colour} {animal}.\n{weather}, and they walked to {place}.\nThere the {animal} found a {thing}.\n"
    "\"Who has lost this {thing}?\" {name} asked.\nNobody knew, so {name} took the {thing} home.\n",
    "Once there was a {animal} who lived near {place}.\n{weather}.\nThe {animal} wanted a {colour} {thing}, but had none.\n"
    "Then {name} came by and gave it one.\nFrom that day on {name} and the {animal} were friends.\n",
    "{weather}.\n{name} sat by {place} and waited.\nA {colour} {animal} came and sat down beside {name}.\n"
    "It had a {thing} in its mouth.\n{name} laughed and thanked the {animal}.\n",
)


def tales(count, state):
    """`state`: of a linear congruential generator (Knuth's MMIX)."""

    def pick(choices):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return choices[(state >> 33) % len(choices)]

    for _ in range(count):
        yield pick(TALE).format(
            name=pick(NAMES), animal=pick(ANIMALS), colour=pick(COLOURS), place=pick(PLACES), thing=pick(THINGS), weather=pick(WEATHER))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, count, state in (("train", 1500, 1), ("valid", 50, 2)):
        (folder / f"{name}.txt").write_text("\n".join(tales(count, state)), encoding="utf-8")


if __name__ == "__main__":
    main()
