#!/usr/bin/env python3
"""A probabilistic context-free grammar beside `attend parse`, as python/attend/paper/_pcfg.py has it.

Words seen less than three times lend their tags to unknown ones of their shape. Prints a tree a line; where there is none, a flat one. An
empty line gives an empty one.

example: bench/parsing_pcfg.py --parents train.trees test.words > parsed.trees
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python/attend/paper"))
import _pcfg
import _treebanks


def run(options):
    trees = list(_treebanks.simple_trees(options.trees.read_text(encoding="utf-8")))
    if not trees:
        sys.exit(f"parsing_pcfg.py: '{options.trees}' has no tree; expected bracketed ones, such as (S (NN cats) (VBP sit))")
    grammar = _pcfg.learn(trees, options.parents)
    with options.sentences.open(encoding="utf-8") as sentences:
        for line in sentences:
            print(_pcfg.parse(line.split(), grammar), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", metavar="TREES", type=pathlib.Path, help="to read the grammar off")
    parser.add_argument("sentences", metavar="SENTENCES", type=pathlib.Path, help="to parse: one a line, its words divided by blanks")
    parser.add_argument("--parents", action="store_true", help="put the parent's label on each constituent")
    options = parser.parse_args()
    try:
        run(options)
    except OSError as error:
        where = error.filename or "standard output"
        sys.exit(f"parsing_pcfg.py: '{where}': {error.strerror}")


if __name__ == "__main__":
    main()
