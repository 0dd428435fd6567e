#!/usr/bin/env python3
"""Marian's side of compare_student.py: pymarian's Translator on one thread; prints lines a second and outputs as JSON.

usage: bench/marian_translate.py MODEL.npz VOCAB.spm TEXT BATCH [SHORTLIST.bin]
"""

import json
import pathlib
import sys
import time

from pymarian import Translator


def main():
    model, vocabulary, text, batch, *shortlist = sys.argv[1:]
    more = {"shortlist": [*shortlist, 50, 50, 0]} if shortlist else {}
    translator = Translator(
        models=model, vocabs=[vocabulary, vocabulary], cpu_threads=1, beam_size=1, normalize=0, allow_unk="", mini_batch=int(batch),
        maxi_batch=1000, maxi_batch_sort="src", quiet="", quiet_translation="", **more)
    lines = pathlib.Path(text).read_text("utf-8").splitlines()
    translator.translate(lines[:1])
    begin = time.perf_counter()
    outputs = translator.translate(lines)
    seconds = time.perf_counter() - begin
    print(json.dumps({"lines_per_s": len(lines) / seconds, "outputs": outputs}))


if __name__ == "__main__":
    main()
