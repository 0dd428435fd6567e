#!/usr/bin/env python3
"""Makes the treebanks of the recipes of parsing from the corpora in DATA: train.trees, valid.trees and test.trees in DIRECTORY, a
tree a line, without the outermost bracket where that has no label, and test.words, the words of the test's
sentences, as `attend parse` reads them.

usage: trees.py treebank|craft|icepahc DATA DIRECTORY
       trees.py wikitext2|craft-dev DATA FILE

treebank: the Penn Treebank's sample, by its lists of files. craft: the CRAFT corpus, by its own split. icepahc: the Icelandic Parsed
Historical Corpus, by the last digit of a tree's number (8 valid, 9 test).

With wikitext2 and craft-dev it writes sentences without trees, as `attend parse` reads them: those of WikiText-2 without unknown words,
divided as the Penn Treebank divides them, and those of CRAFT's dev part; 5 to 40 words each.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/attend/paper"))
import _treebanks

if __name__ == "__main__":
    name, data, output = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    (_treebanks.write if name in _treebanks.TREEBANKS else _treebanks.write_raw)(name, data, output)
