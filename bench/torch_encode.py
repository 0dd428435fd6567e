#!/usr/bin/env python3
"""The peer of `attend bench encode`: transformers' BertModel in PyTorch, with the same option names, one JSON line.

usage: bench/torch_encode.py --model DIR [--length 128] [--batch-size 32] ...

The model is one that transformers reads. It runs in f32, whatever --type says. A text's vector is the mean of its tokens' vectors.
"""

import time

import torch
import transformers
from ct2_encode import parser_of, report


def main():
    options = parser_of(__doc__).parse_args()
    torch.set_num_threads(options.threads)
    begin = time.perf_counter()
    model = transformers.BertModel.from_pretrained(options.model, add_pooling_layer=False).eval()
    load = time.perf_counter() - begin

    def run(ids):
        with torch.inference_mode():
            return model(input_ids=torch.from_numpy(ids)).last_hidden_state.mean(dim=1).numpy()

    report(options, f"transformers {transformers.__version__} ({model.config._attn_implementation})", load, run)


if __name__ == "__main__":
    main()
