#!/usr/bin/env python3
"""A probabilistic context-free grammar beside `attend parse`, as python/attend/paper/_pcfg.py has it.

usage: parsing_pcfg.py TRAIN.trees TEST.words [--parents] > parsed.trees

Words seen less than three times lend their tags to unknown ones of their shape. Prints a tree a line; where there is none, a flat one.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python/attend/paper"))
import _pcfg
import _treebanks


def main():
    with open(sys.argv[1], encoding="utf-8") as trees, open(sys.argv[2], encoding="utf-8") as sentences:
        grammar = _pcfg.learn(_treebanks.simple_trees(trees.read()), "--parents" in sys.argv)
        for line in sentences:
            print(_pcfg.parse(line.split(), grammar), flush=True)


if __name__ == "__main__":
    main()
