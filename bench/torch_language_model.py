#!/usr/bin/env python3
"""Trains a decoder-only Transformer by characters in plain PyTorch eager, and prints its speed and loss as a line of JSON: the peer of
`attend bench train` and `attend train` on a language model.

example: torch_language_model.py --text train.txt --valid valid.txt --layers 6 --width 384 --heads 6 --context 256 --batch 16 --threads 2

Pre-norm layers of GELU with learned positions and biases, the embedding tied to the output, scaled_dot_product_attention, AdamW and
clipping. A batch is `--batch` contexts drawn at random from the text. The validation loss is the mean over the whole text, cut into
contexts one after the other.
"""

import argparse
import json
import math
import pathlib
import time

import torch
from torch import nn
from torch.nn import functional

WARM_UP = 5


class Layer(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.query_key_value, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.inner, self.outer = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def attend(self, x):
        shape = (*x.shape[:2], self.heads, -1)
        query, key, value = (part.view(shape).transpose(1, 2) for part in self.query_key_value(x).chunk(3, dim=-1))
        context = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.output(context.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.dropout(self.attend(self.norms[0](x)))
        return x + self.dropout(self.outer(functional.gelu(self.inner(self.norms[1](x)))))


class LanguageModel(nn.Module):
    def __init__(self, characters, options):
        super().__init__()
        self.embedding = nn.Embedding(characters, options.width)
        self.positions = nn.Parameter(torch.randn(options.context, options.width) * 0.02)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.dropout = nn.Dropout(options.dropout)
        self.layers = nn.ModuleList(Layer(options.width, options.heads, options.dropout) for _ in range(options.layers))
        self.norm = nn.LayerNorm(options.width)

    def forward(self, ids):
        x = self.dropout(self.embedding(ids) + self.positions[: ids.shape[1]])
        for layer in self.layers:
            x = layer(x)
        return functional.linear(self.norm(x), self.embedding.weight)


def loss_of(model, contexts):
    logits = model(contexts[:, :-1])
    return functional.cross_entropy(logits.flatten(0, 1), contexts[:, 1:].flatten())


def rate_of(update, options):
    """Linear warm-up, then a cosine down to a tenth."""
    if update < options.warm_up:
        return options.rate * (update + 1) / options.warm_up
    done = (update - options.warm_up) / max(1, options.updates - options.warm_up)
    return options.rate * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * done)))


def train(model, ids, options):
    """Seconds of all updates, and of those after the first few."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate, betas=(0.9, 0.99), weight_decay=0.1)
    generator = torch.Generator().manual_seed(options.seed)
    offsets = torch.arange(options.context + 1)
    start = warm = time.perf_counter()
    for update in range(options.updates):
        if update == WARM_UP:
            warm = time.perf_counter()
        begins = torch.randint(len(ids) - options.context - 1, (options.batch, 1), generator=generator)
        for group in optimizer.param_groups:
            group["lr"] = rate_of(update, options)
        loss_of(model, ids[begins + offsets]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    end = time.perf_counter()
    return end - start, end - warm


@torch.no_grad()
def validate(model, ids, options):
    model.eval()
    sums, count = 0.0, 0
    for first in range(0, len(ids) - 1, options.context * options.batch):
        part = ids[first : first + options.context * options.batch + 1]
        rows = (len(part) - 1) // options.context
        if rows == 0:
            break
        inputs = part[: rows * options.context].view(rows, -1)
        targets = part[1 : rows * options.context + 1]
        sums += functional.cross_entropy(model(inputs).flatten(0, 1), targets, reduction="sum").item()
        count += len(targets)
    return sums / count


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", required=True)
    parser.add_argument("--valid")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--heads", type=int, default=6)
    parser.add_argument("--context", type=int, default=256)
    parser.add_argument("--batch", type=int, default=16, help="contexts in an update")
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--warm-up", type=int, default=100)
    parser.add_argument("--updates", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    text = pathlib.Path(options.text).read_text(encoding="utf-8")
    characters = {character: i for i, character in enumerate(sorted(set(text)))}
    model = LanguageModel(len(characters), options).train()
    total, measured = train(model, torch.tensor([characters[c] for c in text]), options)
    result = {
        "peer": f"pytorch {torch.__version__}",
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "target_tokens_per_s": round((options.updates - WARM_UP) * options.batch * options.context / measured, 1),
        "seconds": round(total, 1),
    }
    if options.valid:
        valid = pathlib.Path(options.valid).read_text(encoding="utf-8")
        result["valid_loss"] = round(validate(model, torch.tensor([characters[c] for c in valid]), options), 4)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
