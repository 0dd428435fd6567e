#!/usr/bin/env python3
"""Peer for training speed: the same encoder-decoder trained by plain PyTorch on the same text.

usage: torch_train.py --spm MODEL --src FILE --tgt FILE [--preset tiny|base|big] [--tokens 4096] [--updates 30]
       [--threads 1] [--device cpu|cuda] [--compile] [--precision f32|bf16] [--dropout-sites paper|all]

Dropout stands where the paper puts it (embedding sums and sub-layer outputs); "all" adds nn.Transformer's own two sites
(attention weights, feed-forward hidden units). Prints one JSON line: target tokens per second (padding not counted), padded tokens per second, seconds per update,
and the machine's measured f32 matrix-multiply rate in the same run.
"""
import argparse, json, math, time
import sentencepiece, torch
import torch.nn as nn, torch.nn.functional as F

PRESETS = {  # encoder layers, decoder layers, d_model, heads, d_ff, dropout
    "tiny": (4, 4, 128, 4, 256, 0.3),
    "base": (6, 6, 512, 8, 2048, 0.1),
    "big": (6, 6, 1024, 16, 4096, 0.3),
}


class Seq2Seq(nn.Module):
    def __init__(self, vocab, preset, dropout_sites="paper"):
        super().__init__()
        enc, dec, d, heads, ff, dropout = PRESETS[preset]
        self.d = d
        self.emb = nn.Embedding(vocab, d, padding_idx=0)
        nn.init.normal_(self.emb.weight, std=d ** -0.5)
        pos = torch.arange(512)[:, None] / torch.pow(10000, torch.arange(0, d, 2) / d)[None]
        pe = torch.zeros(512, d); pe[:, 0::2] = pos.sin(); pe[:, 1::2] = pos.cos()
        self.register_buffer("pe", pe)
        self.drop = nn.Dropout(dropout)
        self.t = nn.Transformer(d, heads, enc, dec, ff, dropout, batch_first=True)
        if dropout_sites == "paper":
            for layer in [*self.t.encoder.layers, *self.t.decoder.layers]:
                layer.dropout.p = layer.self_attn.dropout = 0.0
                if hasattr(layer, "multihead_attn"):
                    layer.multihead_attn.dropout = 0.0

    def embed(self, x):
        return self.drop(self.emb(x) * math.sqrt(self.d) + self.pe[: x.shape[1]])

    def forward(self, src, tgt):
        pad_s = src == 0
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.shape[1], device=tgt.device)
        h = self.t(self.embed(src), self.embed(tgt), tgt_mask=mask, src_key_padding_mask=pad_s,
                   memory_key_padding_mask=pad_s, tgt_is_causal=True)
        return F.linear(h, self.emb.weight)


def batches(pairs, budget):
    pairs = sorted(pairs, key=lambda p: (len(p[1]), len(p[0])))
    out, cur, width = [], [], 0
    for p in pairs:
        w = max(width, len(p[0]), len(p[1]) - 1)
        if cur and w * (len(cur) + 1) > budget:
            out.append(cur); cur, w = [], max(len(p[0]), len(p[1]) - 1)
        cur.append(p); width = w
    if cur: out.append(cur)
    g = torch.Generator().manual_seed(1)
    return [out[i] for i in torch.randperm(len(out), generator=g)]


def pad(rows):
    n = max(map(len, rows))
    return torch.tensor([r + [0] * (n - len(r)) for r in rows])


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--spm", required=True); a.add_argument("--src", required=True); a.add_argument("--tgt", required=True)
    a.add_argument("--preset", choices=PRESETS, default="tiny"); a.add_argument("--tokens", type=int, default=4096)
    a.add_argument("--updates", type=int, default=30); a.add_argument("--threads", type=int, default=1)
    a.add_argument("--device", default="cpu", choices=["cpu", "cuda"]); a.add_argument("--compile", action="store_true"); a.add_argument("--precision", default="f32", choices=["f32", "bf16"])
    a.add_argument("--dropout-sites", default="paper", choices=["paper", "all"])
    a = a.parse_args()
    torch.set_num_threads(a.threads); torch.manual_seed(1)
    sp = sentencepiece.SentencePieceProcessor(model_file=a.spm)
    enc = lambda path: [sp.encode(l) for l in open(path, encoding="utf-8", newline="\n").read().split("\n") if l]
    # id 0 is padding here; ids of the vocabulary are shifted by one.
    bos, eos = sp.get_piece_size() + 1, sp.get_piece_size() + 2
    pairs = [([i + 1 for i in s] + [eos], [bos] + [i + 1 for i in t] + [eos]) for s, t in zip(enc(a.src), enc(a.tgt))]
    todo = batches(pairs, a.tokens)
    m = Seq2Seq(sp.get_piece_size() + 3, a.preset, dropout_sites=a.dropout_sites).to(a.device)
    wait = torch.cuda.synchronize if a.device == "cuda" else lambda: None
    params = sum(p.numel() for p in m.parameters())
    opt = torch.optim.Adam(m.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    f = torch.compile(m, dynamic=True) if a.compile else m
    m.train(); warm = 5
    taken = [todo[k % len(todo)] for k in range(a.updates + warm)]
    ready = [(pad([p[0] for p in b]), pad([p[1] for p in b])) for b in taken]
    real = sum(int((tgt[:, 1:] != 0).sum()) for _, tgt in ready[warm:])
    padded = sum(tgt[:, 1:].numel() for _, tgt in ready[warm:])
    for k, (src, tgt) in enumerate(ready):
        if k == warm:
            wait(); start = time.perf_counter()
        src, tgt = (x.pin_memory().to(a.device, non_blocking=True) if a.device == "cuda" else x for x in (src, tgt))
        with torch.autocast(a.device, torch.bfloat16, enabled=a.precision == "bf16"):
            logits = f(src, tgt[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1).float(), tgt[:, 1:].flatten(), ignore_index=0, label_smoothing=0.1)
        loss.backward(); nn.utils.clip_grad_norm_(m.parameters(), 1.0); opt.step(); opt.zero_grad(set_to_none=True)
    wait(); seconds = time.perf_counter() - start
    x, w = torch.randn(2048, 1024, device=a.device), torch.randn(1024, 1024, device=a.device); best = 1e9
    for _ in range(10):
        wait(); t0 = time.perf_counter(); x @ w; wait(); best = min(best, time.perf_counter() - t0)
    print(json.dumps({"peer": "pytorch " + torch.__version__, "preset": a.preset, "compile": a.compile, "precision": a.precision, "dropout_sites": a.dropout_sites,
                      "threads": a.threads, "parameters": params, "target_tokens_per_s": round(real / seconds, 1),
                      "padded_tokens_per_s": round(padded / seconds, 1), "s_per_update": round(seconds / a.updates, 4),
                      "gemm_f32_gflops": round(2 * 2048 * 1024 * 1024 / best / 1e9, 1), "last_loss": round(float(loss), 3)}))


if __name__ == "__main__":
    main()
