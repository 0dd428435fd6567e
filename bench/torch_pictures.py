#!/usr/bin/env python3
"""Trains a Vision Transformer in plain PyTorch eager, and prints its speed as a line of JSON: the peer of `attend bench train` on pictures.

example: torch_pictures.py --size 28 --channels 1 --patch 4 --layers 6 --width 96 --heads 4 --d-ff 192 --batch 128 --threads 2

Pre-norm layers of GELU with learned positions, the mean of the patches' vectors, scaled_dot_product_attention, AdamW and clipping. The
pictures are random numbers that stand in memory, so reading them takes no time.
"""

import argparse
import json
import time

import torch
from torch import nn
from torch.nn import functional

WARM_UP = 5


class Layer(nn.Module):
    def __init__(self, options):
        super().__init__()
        width = options.width
        self.heads = options.heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.query_key_value, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.inner, self.outer = nn.Linear(width, options.d_ff), nn.Linear(options.d_ff, width)
        self.dropout = nn.Dropout(options.dropout)

    def attend(self, x):
        shape = (*x.shape[:2], self.heads, -1)
        query, key, value = (part.view(shape).transpose(1, 2) for part in self.query_key_value(x).chunk(3, dim=-1))
        context = functional.scaled_dot_product_attention(query, key, value)
        return self.output(context.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.dropout(self.attend(self.norms[0](x)))
        return x + self.dropout(self.outer(functional.gelu(self.inner(self.norms[1](x)))))


class VisionTransformer(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.patches = nn.Conv2d(options.channels, options.width, options.patch, options.patch)
        self.positions = nn.Parameter(torch.randn((options.size // options.patch) ** 2, options.width) * 0.02)
        self.dropout = nn.Dropout(options.dropout)
        self.layers = nn.ModuleList(Layer(options) for _ in range(options.layers))
        self.norm = nn.LayerNorm(options.width)
        self.head = nn.Linear(options.width, 10)

    def forward(self, pictures_BCHW):
        x = self.dropout(self.patches(pictures_BCHW).flatten(2).transpose(1, 2) + self.positions)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x).mean(dim=1))


def train(model, options):
    """Seconds of the updates after the first few."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.98), weight_decay=0.05, fused=True)
    pictures = torch.randn(options.batch, options.channels, options.size, options.size)
    labels = torch.randint(10, (options.batch,))
    for update in range(WARM_UP + options.updates):
        if update == WARM_UP:
            start = time.perf_counter()
        with torch.autocast("cpu", torch.bfloat16, enabled=options.precision == "bf16"):
            loss = functional.cross_entropy(model(pictures), labels, label_smoothing=0.1)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return time.perf_counter() - start


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("size", 28), ("channels", 1), ("patch", 4), ("layers", 6), ("width", 96), ("heads", 4), ("d-ff", 192), ("batch", 128),
                        ("updates", 30), ("threads", 1)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--precision", default="f32", choices=["f32", "bf16"])
    return parser.parse_args()


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    model = VisionTransformer(options).train()
    seconds = train(model, options)
    print(json.dumps({
        "peer": f"pytorch {torch.__version__}", "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "pictures_per_s": options.updates * options.batch / seconds}))


if __name__ == "__main__":
    main()
