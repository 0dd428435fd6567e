#!/usr/bin/env python3
"""Makes the text of the recipes of parsing from the corpora in DATA.

treebank, craft, icepahc: train.trees, valid.trees and test.trees in OUTPUT, a folder, a tree a line, without the outermost bracket where
that has no label, and test.words, the words of the test's sentences, as `attend parse` reads them. treebank: the Penn Treebank's sample,
by its lists of files. craft: the CRAFT corpus, by its own split. icepahc: the Icelandic Parsed Historical Corpus, by the last digit of a
tree's number (8 valid, 9 test).

wikitext2, wikitext2-penn, craft-dev: sentences without trees in OUTPUT, a file, as `attend parse` reads them, of 5 to 40 words.
wikitext2: those of WikiText-2 without unknown words, divided as the Penn Treebank divides them; wikitext2-penn has the Penn Treebank's
dash, too. craft-dev: those of CRAFT's dev part.

example: recipes/parsing/trees.py treebank DATA DATA/parsing-treebank
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/attend/paper"))
import _treebanks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=[*_treebanks.TREEBANKS, *_treebanks.RAW_TEXTS])
    parser.add_argument("data", metavar="DATA", type=pathlib.Path)
    parser.add_argument("output", metavar="OUTPUT", type=pathlib.Path)
    options = parser.parse_args()
    write = _treebanks.write if options.name in _treebanks.TREEBANKS else _treebanks.write_raw
    try:
        write(options.name, options.data, options.output)
    except OSError as error:
        sys.exit(f"trees.py: '{error.filename or options.data}': {error.strerror or error}")


if __name__ == "__main__":
    main()
