#!/usr/bin/env python3
"""A T5 of t5-small's shape with random weights in a folder, as transformers has it; `attend import` and CTranslate2 read it.

usage: bench/random_t5.py OUT
"""

import argparse
import json
import pathlib

import torch
import transformers
from shapes import T5_ROWS, T5_WORDS

SPECIAL = ["<pad>", "</s>", "<unk>", "▁"]


def tokenizer():
    """Which knows the tokens by name alone; a benchmark gives ids."""
    vocab = [[token, 0.0] for token in SPECIAL] + [[f"t{i}", -10.0] for i in range(T5_WORDS)]
    added = [
        {"id": i, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        for i, token in enumerate(SPECIAL[:3])]
    space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None, "pre_tokenizer": space,
        "post_processor": None, "decoder": space, "model": {"type": "Unigram", "unk_id": 2, "vocab": vocab, "byte_fallback": False}}


def write_t5(folder):
    folder = pathlib.Path(folder)
    torch.manual_seed(1)
    transformers.utils.logging.disable_progress_bar()
    transformers.T5ForConditionalGeneration(transformers.T5Config(vocab_size=T5_ROWS, decoder_start_token_id=0)).save_pretrained(folder)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()), "utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "T5Tokenizer", "extra_ids": 0}), "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    write_t5(parser.parse_args().out)
