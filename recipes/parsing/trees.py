#!/usr/bin/env python3
"""Makes the treebanks of the recipes of parsing from the corpora in DATA: train.trees, valid.trees and test.trees in DIRECTORY, a
tree a line as the corpus has it, without the outermost bracket where that has no label, and test.words, the words of the test's
sentences, as `attend parse` reads them.

usage: trees.py treebank|craft|icepahc DATA DIRECTORY

treebank: the Penn Treebank's sample, by its lists of files. craft: the CRAFT corpus, by its own split. icepahc: the Icelandic Parsed
Historical Corpus, by the last digit of a tree's number (8 valid, 9 test).
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/attend/paper"))
import _treebanks

if __name__ == "__main__":
    _treebanks.write(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
