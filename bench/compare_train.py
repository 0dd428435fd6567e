#!/usr/bin/env python3
"""Runs `attend bench train` and PyTorch or Marian in turn, several times, and prints each side's best as a Markdown table.

usage: bench/compare_train.py --source train.en --target train.de [--vocab F] [--attend build/attend] [--rows tiny-1 ...]
       [--device cpu|cuda] [--rounds 3] [--updates 30] [--output TABLE.md]
       [--peer pytorch|marian] [--peer-python PYTHON]
       without --vocab one of 10,000 pieces is made from the text; --device cuda has rows of its own; --peer-python is a Python that
       has the peer's package

Both sides train the same model on the same text and vocabulary, with the same bound on a batch, dropout at the paper's sites; in
f32, or with products in bf16 and weights in f32.
"""

import argparse
import dataclasses
import pathlib
import subprocess
import sys
import tempfile

from compare_translate import FOLDER, commit, processors, run, write

DROPOUT = {"tiny": 0.3, "base": 0.1, "big": 0.3}  # torch_train.py's


@dataclasses.dataclass(frozen=True)
class Row:
    preset: str
    batch_tokens: int
    threads: int = 1
    device: str = "cpu"
    precision: str = "f32"

    @property
    def title(self):
        where = f"{self.threads} thread{'s' if self.threads > 1 else ''}" if self.device == "cpu" else self.device
        precision = "" if self.precision == "f32" else f", {self.precision}"
        return f"{self.preset}, {self.batch_tokens:,} tokens, {where}{precision}"


ROWS = {"tiny-1": Row("tiny", 4096), "tiny-2": Row("tiny", 4096, 2), "base-1": Row("base", 2048), "base-2": Row("base", 2048, 2)}
ROWS |= {f"{name}-bf16": dataclasses.replace(row, precision="bf16") for name, row in ROWS.items()}  # where the CPU has such products
GPU_ROWS = {
    f"{preset}-{tokens}": Row(preset, tokens, device="cuda", precision="bf16")
    for preset in ("base", "big")
    for tokens in (4096, 8192, 16384, 25000)
}
ALL_ROWS = ROWS | GPU_ROWS
PEERS = {"pytorch": ("PyTorch", "torch_train.py"), "marian": ("Marian", "marian_train.py")}
DEFAULT_ROWS = {"cpu": ["tiny-1", "tiny-2", "base-1"], "cuda": list(GPU_ROWS)}


def ours(row, options):
    return run([options.attend, "bench", "train", "--vocab", options.vocab, "--source", options.source, "--target", options.target,
                "--preset", row.preset, "--dropout", DROPOUT[row.preset], "--batch-tokens", row.batch_tokens,
                "--threads", row.threads, "--device", row.device, "--precision", row.precision, "--updates", options.updates, "--json"])


def theirs(row, options):
    return run([options.peer_python, FOLDER / PEERS[options.peer][1], "--vocab", options.vocab, "--source", options.source,
                "--target", options.target, "--preset", row.preset, "--batch-tokens", row.batch_tokens, "--threads", row.threads,
                "--device", row.device, "--precision", row.precision, "--updates", options.updates])


def measure(row, options):
    """Both sides' best reports."""
    rounds = [(ours(row, options), theirs(row, options)) for _ in range(options.rounds)]
    return [max(side, key=lambda report: report["target_tokens_per_s"]) for side in zip(*rounds)]


def rate(report):
    return report["target_tokens_per_s"]


def of_the_peak(report):
    return f"{100 * report['utilisation']:.0f} %" if "utilisation" in report else ""


def table_line(row, attend, peer):
    return (f"| {row.title} | {rate(attend):,.0f} | {rate(peer):,.0f} | {rate(attend) / rate(peer):.2f} "
            f"| {100 * attend['share_of_products']:.0f} % | {of_the_peak(attend)} | {attend['ms_per_update']:.0f} "
            f"| {100 * attend['share_of_waiting_for_data']:.1f} % | {attend['peak_rss_mb']:,.0f} |")


def scaling_lines(reports):
    """Two threads over one, of rows that ran with both."""
    sides = {row: best for row, *best in reports}
    for row, best in sides.items():
        alone = sides.get(dataclasses.replace(row, threads=1))
        if row.threads > 1 and alone:
            attend, peer = (rate(many) / rate(one) for many, one in zip(best, alone))
            yield f"| {row.title} over 1 | {attend:.2f} | {peer:.2f} | | | | | | |"


def heading(reports):
    """The machine with its rate, the commit, the peer."""
    alone = [(row, attend) for row, attend, _ in reports if row.threads == 1] or [reports[0][:2]]
    best = {}
    for row, attend in alone:
        best[row.precision] = max(best.get(row.precision, 0), attend["machine"][f"{row.precision}_products_per_s"] / 1e9)
    products = " and ".join(f"of {precision} {products:,.0f}" for precision, products in best.items())
    name, count = processors()
    where = "one thread" if reports[0][0].device == "cpu" else alone[0][1]["machine"].get("gpu", "the GPU")
    return (f"{name}, {count} threads in all; products on {where}, in GFLOP/s: {products}. "
            f"attend {commit()}, {reports[0][2]['peer']}.")


def table(reports, peer):
    lines = [heading(reports), "",
             f"| target tokens/s | attend | {peer} | ratio | of the products' rate | of the peak | ms an update | waiting for data | host peak MB |",
             "|---|---|---|---|---|---|---|---|---|"]
    return "\n".join([*lines, *(table_line(*report) for report in reports), *scaling_lines(reports)]) + "\n"


def make_vocabulary(options, folder):
    path = pathlib.Path(folder) / "vocab.spm"
    subprocess.run([options.attend, "vocab", "--input", options.source, options.target, "--size", "10000", "--type", "bpe",
                    "--quiet", "--output", path], check=True)
    return path


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--source", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--vocab")
    parser.add_argument("--device", default="cpu", choices=DEFAULT_ROWS)
    parser.add_argument("--peer", default="pytorch", choices=PEERS)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--rows", nargs="+", choices=ALL_ROWS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=30)
    parser.add_argument("--output")
    return parser.parse_args()


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        options.vocab = options.vocab or make_vocabulary(options, folder)
        reports = []
        for name in options.rows or DEFAULT_ROWS[options.device]:
            reports.append((ALL_ROWS[name], *measure(ALL_ROWS[name], options)))
            print(table_line(*reports[-1]), file=sys.stderr)
    write(table(reports, PEERS[options.peer][0]), options.output)


if __name__ == "__main__":
    main()
