#!/usr/bin/env python3
"""Trains the Transformer in plain PyTorch eager and prints its speed as a line of JSON: the peer of `attend bench train`.

example: torch_train.py --vocab vocab.spm --source train.en --target train.de --preset tiny --threads 2

As in attend: batches of sentences of like lengths, bound by sentences times the longer side; dropout after the sums of embeddings and
after each sub-layer (the paper, section 5.4), where nn.Transformer drops attention weights and the feed-forward layer's hidden units
as well; label smoothing, clipping and Adam. Target tokens a second count no padding, after some updates to warm up.
"""

import argparse
import json
import math
import time

import sentencepiece
import torch
from torch import nn
from torch.nn import functional

# layers a side, d_model, heads, d_ff, dropout
PRESETS = {"tiny": (4, 128, 4, 256, 0.3), "base": (6, 512, 8, 2048, 0.1), "big": (6, 1024, 16, 4096, 0.3)}
LONGEST = 512
PAD, BOS, EOS, PIECES = 0, 1, 2, 3  # ids of pieces begin at the last
WARM_UP = 5


class Transformer(nn.Module):
    """One matrix for the embeddings of both sides and for the output."""

    def __init__(self, pieces, preset):
        super().__init__()
        layers, width, heads, d_ff, dropout = PRESETS[preset]
        self.embedding = nn.Embedding(PIECES + pieces, width, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        angles = torch.outer(torch.arange(LONGEST).float(), 10000 ** (-torch.arange(0, width, 2) / width))
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], -1).flatten(1))
        self.dropout = nn.Dropout(dropout)
        self.stacks = nn.Transformer(width, heads, layers, layers, d_ff, dropout, batch_first=True)
        self.stacks.encoder.norm = self.stacks.decoder.norm = None  # the paper's have none, and attention no biases
        for name, module in self.stacks.named_modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
                module.register_parameter("in_proj_bias", None)
                module.out_proj.register_parameter("bias", None)
            elif name.endswith(".dropout"):  # of hidden units; dropout1 to dropout3 follow sub-layers
                module.p = 0.0

    def embed(self, ids):
        scaled = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        return self.dropout(scaled + self.positions[: ids.shape[1]])

    def forward(self, source, target):
        padding = source == PAD
        later = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        outputs = self.stacks(
            self.embed(source),
            self.embed(target),
            tgt_mask=later,
            tgt_is_causal=True,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return functional.linear(outputs, self.embedding.weight)


def read_pairs(vocabulary, source, target):
    """Ids of a source with eos, and of its target with bos and eos."""

    def encoded(path):
        with open(path, encoding="utf-8", newline="\n") as lines:
            return [[PIECES + piece for piece in vocabulary.encode(line.rstrip("\n"))] for line in lines]

    return [(s + [EOS], [BOS, *t, EOS]) for s, t in zip(encoded(source), encoded(target), strict=True) if s and t]


def make_batches(pairs, tokens):
    """Of sentences of like lengths, in random order."""
    batches, longer_side = [[]], 0
    for source, target in sorted(pairs, key=lambda pair: (len(pair[1]), len(pair[0]))):
        own = max(len(source), len(target) - 1)
        longer_side = max(longer_side, own)
        if batches[-1] and longer_side * (len(batches[-1]) + 1) > tokens:
            batches.append([])
            longer_side = own
        batches[-1].append((source, target))
    order = torch.randperm(len(batches), generator=torch.Generator().manual_seed(1))
    return [batches[i] for i in order]


def padded(sentences):
    return nn.utils.rnn.pad_sequence([torch.tensor(ids) for ids in sentences], batch_first=True, padding_value=PAD)


def train(model, batches, options):
    """Returns the seconds after the warm-up, and the last loss."""
    synchronize = torch.cuda.synchronize if options.device == "cuda" else lambda: None
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    for update, batch in enumerate(batches):
        if update == WARM_UP:
            synchronize()
            start = time.perf_counter()
        if options.device == "cuda":
            batch = [side.pin_memory().to("cuda", non_blocking=True) for side in batch]
        source, target = batch
        with torch.autocast(options.device, torch.bfloat16, enabled=options.precision == "bf16"):
            logits = model(source, target[:, :-1]).flatten(0, 1).float()
            loss = functional.cross_entropy(logits, target[:, 1:].flatten(), ignore_index=PAD, label_smoothing=0.1)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    synchronize()
    return time.perf_counter() - start, loss.item()


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", required=True, help="a SentencePiece model")
    parser.add_argument("--source", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--preset", default="tiny", choices=PRESETS)
    parser.add_argument("--batch-tokens", type=int, default=4096, help="bound on a batch")
    parser.add_argument("--updates", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--precision", default="f32", choices=["f32", "bf16"])
    return parser.parse_args()


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    vocabulary = sentencepiece.SentencePieceProcessor(model_file=options.vocab)
    batches = make_batches(read_pairs(vocabulary, options.source, options.target), options.batch_tokens)
    # Made before the clock runs: no one waits for data.
    taken = [batches[k % len(batches)] for k in range(WARM_UP + options.updates)]
    ready = [tuple(padded(side) for side in zip(*batch)) for batch in taken]
    model = Transformer(vocabulary.get_piece_size(), options.preset).to(options.device).train()
    seconds, loss = train(model, ready, options)
    targets = sum(int((target[:, 1:] != PAD).sum()) for _, target in ready[WARM_UP:])
    result = {
        "peer": f"pytorch {torch.__version__}",
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "target_tokens_per_s": round(targets / seconds, 1),
        "s_per_update": round(seconds / options.updates, 4),
        "last_loss": round(loss, 3),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
