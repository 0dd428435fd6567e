#!/usr/bin/env python3
"""Trains small models with Marian, imports them, and compares attend's outputs and scores with those of Marian.

usage: bench/compare_marian.py --python MARIAN/bin/python --data multi30k --folder DIR [--attend build/attend]
       [--variants norms-after ...] [--lines 1000] [--lists 100] [--output TABLE.md]
       --python is a Python that has pymarian; --folder keeps the models, and those that are there are not trained again.
       PYTHONPATH has attend's package.

Scores: each token of the references, by `attend.Translator.score` and by Marian's scorer, which has the training's graph. Searches:
ids of greedy search and of beams of 4 without a length penalty, unknown tokens allowed, no output longer than 3 times its source.
Marian takes the longest source of a batch there, so it has a sentence a batch. Its searches read models with norms before the
sub-layers otherwise than its training does, so those are scored alone.

attend translates no text with a letter or digit to nothing, so lines that Marian translates so are left out.

Marian's beam is narrower by each hypothesis that has ended; attend's keeps its width. So lists of 4 differ. The last column runs
Marian's rule on the imported model, in attend.torch, on the first --lists lines.
"""

import argparse
import collections
import pathlib
import shutil
import subprocess
import sys

import attend
import attend.torch
import sentencepiece
import torch
from compare_translate import call, commit, processors, write

SIZE, FACTOR, BEAM = 4000, 3, 4
SHAPE = """--type transformer --enc-depth 2 --dec-depth 2 --dim-emb 64 --transformer-heads 4 --transformer-dim-ffn 128
  --learn-rate 0.003 --lr-warmup 50u --mini-batch-words 1000 --maxi-batch 50 --after 200u --save-freq 100000u --seed 7 --sync-sgd
  --workspace 500 --cost-type ce-mean-words --overwrite --quiet""".split()
TIED = "--tied-embeddings-all"
VARIANTS = {
    "norms-after": TIED,
    "norms-before": f"{TIED} --transformer-preprocess n --transformer-postprocess da --transformer-postprocess-top n",
    "ssru": f"{TIED} --transformer-decoder-autoreg rnn --dec-cell ssru",
    "learned-positions": f"{TIED} --transformer-train-position-embeddings --max-length 200",
    "embedding-norm": f"{TIED} --transformer-postprocess-emb nd",
    "untied": "",
    "tied-output": "--tied-embeddings",
}


def marian(options, command, *arguments):
    """What it prints; its vocabularies and one thread are named here."""
    vocabulary = options.folder / "vocab.spm"
    return call([options.python, "-m", "pymarian", command, "--vocabs", vocabulary, vocabulary, "--cpu-threads", 1, *arguments])


def make_vocabulary(options):
    path = options.folder / "vocab.spm"
    if not path.exists():
        sentencepiece.SentencePieceTrainer.train(
            input=f"{options.data}/train.en,{options.data}/train.de", model_prefix=str(path.with_suffix("")), vocab_size=SIZE, model_type="bpe",
            bos_id=-1, eos_id=0, unk_id=1, minloglevel=2)
        path.with_suffix(".model").rename(path)
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def make_model(options, name):
    """Marian's file, and a folder with the imported model."""
    folder = options.folder / name
    path = folder / "model.npz"
    if not path.exists():
        folder.mkdir(exist_ok=True)
        marian(options, "train", "--model", path, "--train-sets", options.data / "train.en", options.data / "train.de",
               "--dim-vocabs", SIZE, SIZE, *SHAPE, *VARIANTS[name].split())
    shutil.copy(options.folder / "vocab.spm", folder)
    shutil.rmtree(folder / "attend", ignore_errors=True)
    call([options.attend, "import", path, "--output", folder / "attend", "--quiet"])
    return path, folder / "attend"


def texts(options, language):
    """The first lines, and a file of them."""
    lines = (options.data / f"test_2016_flickr.{language}").read_text("utf-8").splitlines()[: options.lines]
    path = options.folder / f"test.{language}"
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return lines, path


def scores_differ_by(options, path, translator):
    """The largest difference of a token of the references. Marian prints 5 digits after the point."""
    (sources, source), (targets, target) = (texts(options, language) for language in ("en", "de"))
    printed = marian(options, "score", "--model", path, "--train-sets", source, target, "--word-scores", "--quiet")
    theirs = [list(map(float, line.partition("WordScores= ")[2].split())) for line in printed.splitlines()]
    ours = [score.token_log_probabilities for score in translator.score(sources, targets)]
    return max(abs(a - b) for mine, other in zip(ours, theirs, strict=True) for a, b in zip(mine, other, strict=True))


def their_lists(options, path, pieces, beam):
    """Of each line [(ids, log-probability)], the best first; the sum of a hypothesis' tokens has more digits than Marian's own."""
    lines, source = texts(options, "en")
    printed = marian(options, "decode", "--models", path, "--input", source, "--beam-size", beam, "--normalize", 0, "--n-best", "--allow-unk",
                     "--word-scores", "--no-spm-decode", "--max-length-factor", FACTOR, "--mini-batch", 1, "--quiet", "--quiet-translation")
    lists = [[] for _ in lines]
    for number, text, words, *_ in (line.split(" ||| ") for line in printed.splitlines()):
        ids = [pieces.piece_to_id(piece) for piece in text.split()]
        lists[int(number)].append((ids, sum(map(float, words.removeprefix("WordScores= ").split()))))
    return lists


def our_lists(options, translator, pieces, beam):
    """The same from attend, lines of equal length together, which share the limit of outputs."""
    lists, lengths = {}, collections.defaultdict(dict)
    for number, line in enumerate(texts(options, "en")[0]):
        lengths[len(pieces.encode(line)) + 1][number] = line
    for length, lines in lengths.items():
        found = translator.translate(list(lines.values()), beam_size=beam, n_best=beam, length_penalty=0, allow_unknown=True,
                                     split_sentences="never", max_length=FACTOR * length)
        lists |= {number: [(h.ids, h.log_probability) for h in each.hypotheses] for number, each in zip(lines, found)}
    return [lists[number] for number in sorted(lists)]


@torch.no_grad()
def narrowing_beam(model, ids):
    """The hypotheses of Marian's rule on a model of attend.torch."""
    live, ended = [([], 0.0)], []
    for _ in range(FACTOR * len(ids)):
        outputs = torch.tensor([model.decoder_start() + wrote for wrote, _ in live])
        steps = model(torch.tensor([ids] * len(live)), outputs)[:, -1].double().log_softmax(-1)
        sums = (steps + torch.tensor([[score] for _, score in live]).double()).flatten()
        best = [(live[place // steps.shape[1]][0] + [place % steps.shape[1]], float(sums[place]))
                for place in sums.topk(BEAM - len(ended)).indices.tolist()]
        ended += [(wrote[:-1], score) for wrote, score in best if wrote[-1] == 0]
        live = [each for each in best if each[0][-1] != 0]
        if not live:
            break
    return [wrote for wrote, _ in sorted(ended + live, key=lambda each: -each[1])]


def compare(options, path, folder, translator, pieces):
    """Shares of equal best outputs where Marian's is not empty, their largest difference, shares of equal lists."""
    cells, same = [], []
    for beam in (1, BEAM):
        theirs, ours = their_lists(options, path, pieces, beam), our_lists(options, translator, pieces, beam)
        best = [(a[0], b[0]) for a, b in zip(ours, theirs, strict=True) if b[0][0]]
        equal = [abs(a[1] - b[1]) for a, b in best if a[0] == b[0]]
        cells += [f"{len(equal):,} of {len(best):,}", f"{max(equal, default=float('nan')):.0e}"]
        same = [[ids for ids, _ in a] == [ids for ids, _ in b] for a, b in zip(ours, theirs)]
    model, lines = attend.torch.load(folder), texts(options, "en")[0][: options.lists]
    replayed = [narrowing_beam(model, [*pieces.encode(line), 0]) == [ids for ids, _ in their] for line, their in zip(lines, theirs)]
    return [*cells, f"{sum(same):,} of {len(same):,}", f"{sum(replayed)} of {len(replayed)}"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--python", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=VARIANTS)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--lists", type=int, default=100)
    parser.add_argument("--output")
    return parser.parse_args()


def main():
    options = parse()
    options.folder.mkdir(parents=True, exist_ok=True)
    pieces = make_vocabulary(options)
    version = subprocess.check_output([options.python, "-c", "import pymarian; print(pymarian.__version__)"], text=True).split()[0]
    table = [f"| model | scores differ by | greedy equal | differ by | beam {BEAM} equal | differ by | lists equal | by Marian's rule |",
             "|---|---|---|---|---|---|---|---|"]
    for name in options.variants:
        path, folder = make_model(options, name)
        translator = attend.Translator(folder, threads=1)
        cells = [f"{scores_differ_by(options, path, translator):.0e}"]
        cells += [""] * 6 if name == "norms-before" else compare(options, path, folder, translator, pieces)
        table.append(f"| {name.replace('-', ' ')} | {' | '.join(cells)} |")
        print(table[-1], file=sys.stderr)
    heading = f"{processors()[0]}. attend {commit()}, pymarian {version}, {options.lines:,} lines."
    write("\n".join([heading, "", *table]) + "\n", options.output)


if __name__ == "__main__":
    main()
