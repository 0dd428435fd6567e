#!/usr/bin/env python3
"""Runs `attend bench translate` and CTranslate2 in turn, several times, and prints each side's best as a Markdown table.

usage: bench/compare_translate.py [--attend build/attend] [--rows base-greedy-32 real ...] [--rounds 3] [--type float32]
       [--peer transformers | --before OTHER/attend] [--model DIR --input FILE] [--output TABLE.md]
       --rows list names them all; `real` needs --model and --input; the rows of t5-small need transformers, whose model both sides
       convert; --peer transformers compares random weights with MarianMT of transformers, which has f32 alone; --before names an
       older attend to compare with, in place of CTranslate2

The share of the limit is attend's speed over what the machine could do at most, both measured in the same run: at batch 32 the
peak of the instruction set's best multiply-add over twice the multiply-adds of a token, at batch 1 the rate of reading memory
over the bytes of weights that a token takes (bench/shapes.py counts both).
"""

import argparse
import dataclasses
import datetime
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from random_model import write_model, write_shortlist
from shapes import IMPORTED, LONGEST, PRESETS, Lengths, multiply_adds, weight_bytes

FOLDER = pathlib.Path(__file__).resolve().parent
VOCABULARY, SOURCE, TARGET, SENTENCES = 32000, 24, 32, 64
PEERS = {"ctranslate2": ("CTranslate2", "ct2_translate.py"), "transformers": ("transformers", "marian_mt_translate.py")}
REPEATS = {"student": 4, "base": 2}  # so that a run takes seconds; once for others


@dataclasses.dataclass(frozen=True)
class Row:
    preset: str  # or an imported model's shape; empty: the model and text of the command line
    type: str
    beam: int
    batch: int
    threads: int = 1
    shortlist: bool = False
    vocabulary: int = VOCABULARY

    @property
    def title(self):
        search = "greedy" if self.beam == 1 else f"beam {self.beam}"
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        more = f", {self.vocabulary:,} tokens" if self.vocabulary != VOCABULARY else ", shortlist" if self.shortlist else ""
        return f"{self.preset or 'real text'} {self.type}, {search}, batch {self.batch}{threads}{more}"


ROWS = {f"{preset}-{name}": Row(preset, "int8", beam, batch)
        for preset in ("base", "student", "big")
        for name, beam, batch in (("greedy-32", 1, 32), ("beam-32", 4, 32), ("greedy-1", 1, 1))}
ROWS["base-float32-greedy-32"] = Row("base", "float32", 1, 32)
ROWS["base-greedy-32-threads-2"] = Row("base", "int8", 1, 32, 2)
ROWS |= {f"student-shortlist-{name}": Row("student", "int8", beam, batch, shortlist=True)
         for name, beam, batch in (("greedy-32", 1, 32), ("beam-32", 4, 32), ("greedy-1", 1, 1))}
ROWS |= {f"opus-{name}": Row("base", "int8", beam, batch, vocabulary=58000)  # as OPUS-MT's
         for name, beam, batch in (("greedy-32", 1, 32), ("beam-32", 4, 32), ("greedy-1", 1, 1))}
ROWS |= {f"t5-small-{name}": Row("t5-small", kind, 1, batch, vocabulary=32128)
         for name, kind, batch in (
             ("greedy-32", "int8", 32), ("greedy-1", "int8", 1), ("float32-greedy-32", "float32", 32), ("float32-greedy-1", "float32", 1))}
ROWS["real"] = Row("", "int8", 4, 32)


def call(command):
    """What it prints."""
    environment = os.environ | {"ATTEND_PYTHON": sys.executable}  # for `attend import`
    done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", check=False, env=environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def run(command):
    return json.loads(call(command))


@functools.cache
def random_model(preset):
    """A folder with a model of such a shape and a shortlist for it, kept until the program ends."""
    folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
    write_model(folder.name, preset, VOCABULARY)
    write_shortlist(pathlib.Path(folder.name) / "shortlist", folder.name, VOCABULARY)
    return folder


@functools.cache
def random_t5(program):
    """A folder with a T5 as transformers has it and as attend does, in f32 and in int8, kept until the program ends."""
    folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
    theirs, ours = (pathlib.Path(folder.name) / name for name in ("transformers", "float32"))
    for command in ([sys.executable, FOLDER / "random_t5.py", theirs], [program, "import", theirs, "--output", ours],
                    [program, "quantize", ours, "--output", ours.with_name("int8")]):
        call(command)
    return folder


def weights(row, options):
    """Options of either side that name what it runs."""
    if row.preset in IMPORTED:
        folder = pathlib.Path(random_t5(options.attend).name)
        return ["--model", folder / row.type], ["--transformers", folder / "transformers"]
    named = ["--preset", row.preset, "--vocab-size", row.vocabulary]
    if not row.shortlist:
        return named, named
    folder = random_model(row.preset).name
    return ["--model", folder, "--shortlist", pathlib.Path(folder) / "shortlist"], [*named, "--shortlist"]


def arguments(row, options):
    """Of either side."""
    common = ["--type", row.type, "--threads", row.threads, "--batch-size", row.batch, "--beam-size", row.beam,
              "--repeats", REPEATS.get(row.preset, 1)]
    if not row.preset:
        common += ["--model", options.model, "--input", options.input]
        return [*common, "--length-penalty", 0, "--max-length", LONGEST], common
    common += ["--sentences", SENTENCES if row.batch > 1 else SENTENCES // 4, "--source-length", SOURCE, "--target-length", TARGET]
    return tuple(common + side for side in weights(row, options))


def bench_translate(program, options):
    return run([program, "bench", "translate", *options, "--json"])


def measure(row, options):
    """Both sides' best reports, of the peer's ways to use several threads too; attend's with the best rates of the machine."""
    ours, theirs, machine = [], [], []
    our_options, their_options = arguments(row, options)
    for _ in range(options.rounds):
        ours.append(bench_translate(options.attend, our_options))
        if options.before:
            theirs.append(bench_translate(options.before, our_options))
        else:
            for intra in {1, row.threads}:  # a batch on each thread, or each batch on all
                theirs.append(run([sys.executable, FOLDER / PEERS[options.peer][1], *their_options, "--intra-threads", intra]))
        machine.append(ours[-1]["machine"])
    best = [max(side, key=lambda report: report["target_tokens_per_s"]) for side in (ours, theirs)]
    best[0]["machine"] = {name: max(each[name] for each in machine) for name in machine[0]}
    return best


def limit(row, machine):
    """Tokens a second that the machine could give at most; None where sentences differ in length or in their output layer."""
    if not row.preset or row.shortlist:
        return None
    shape, lengths = (PRESETS | IMPORTED)[row.preset], Lengths(SOURCE + 1, TARGET, row.beam)
    if row.batch == 1:
        bytes_each = 1 if row.type == "int8" else 4
        return machine["memory_bytes_per_s"] / weight_bytes(shape, row.vocabulary, lengths, bytes_each)
    peak = machine["int8_per_s" if row.type == "int8" else "f32_per_s"]
    return peak / (2 * multiply_adds(shape, row.vocabulary, lengths))


def table_line(row, ours, theirs):
    bound = limit(row, ours["machine"])
    rates = [report["target_tokens_per_s"] for report in (ours, theirs)]
    share = f"{100 * rates[0] / bound:.0f} %" if bound else ""
    memory = f"{ours['peak_rss_mb']:.0f} / {theirs['peak_rss_mb']:.0f}"
    if "base_rss_mb" in theirs:  # the peer's interpreter
        memory += f", {theirs['base_rss_mb']:.0f} of it Python"
    return f"| {row.title} | {rates[0]:,.0f} | {rates[1]:,.0f} | {rates[0] / rates[1]:.2f} | {share} | {memory} |"


def processors():
    """The processor's name and how many threads the machine has."""
    lines = pathlib.Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    names = [line.split(": ", 1)[1] for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown processor", len(names)


def commit():
    done = subprocess.run(["git", "-C", FOLDER, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def peer(reports):
    return reports[0][2].get("peer", "older attend")


def described(ours, peers):
    """The machine with its best rates in attend's reports, the commit, the peers, the date."""
    name, count = processors()
    best = {rate: max(report["machine"][rate] for report in ours) / 1e9 for rate in ours[0]["machine"]}
    return (f"{name}, {count} threads in all, {ours[0]['instruction_set']}; one thread: "
            f"{best['f32_per_s']:.0f} GFLOP/s f32, {best['int8_per_s']:.0f} GOP/s int8, {best['memory_bytes_per_s']:.1f} GB/s. "
            f"attend {commit()}, {peers}, {datetime.date.today().isoformat()}.")


def heading(reports):
    single = [ours for row, ours, _ in reports if row.threads == 1] or [ours for _, ours, _ in reports]
    return described(single, peer(reports))


def table(reports, options):
    column = "older attend" if options.before else PEERS[options.peer][0]
    lines = [heading(reports), "", f"| target tokens/s | attend | {column} | ratio | of the limit | peak MB |", "|---|---|---|---|---|---|"]
    return "\n".join(lines + [table_line(*report) for report in reports]) + "\n"


def row_parser(description, rows):
    """Takes the options of a script that has rows of one thread each."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--rows", nargs="+", default=rows, choices=rows)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output")
    return parser


def measure_rows(options, measure, line):
    """The reports of each row, and its line of a table, which is shown as it comes."""
    lines, reports = [], []
    for row in options.rows:
        reports.append(measure(row, options))
        lines.append(line(row, *reports[-1]))
        print(lines[-1], file=sys.stderr)
    return reports, lines


def write(text, output):
    """To the file, or to standard output without one."""
    if output:
        pathlib.Path(output).write_text(text, "utf-8")
    else:
        print(text, end="")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attend", default="build/attend")
    parser.add_argument("--rows", nargs="+", choices=[*ROWS, "list"], metavar="ROW")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--type", choices=["int8", "float32"], help="for every row, instead of the row's own")
    parser.add_argument("--peer", choices=PEERS, default="ctranslate2")
    parser.add_argument("--before", metavar="PROGRAM", help="an older attend, in place of CTranslate2")
    parser.add_argument("--model")
    parser.add_argument("--input")
    parser.add_argument("--output")
    options = parser.parse_args()
    real = bool(options.model and options.input)
    options.rows = options.rows or [name for name in ROWS if real or name != "real"]
    if "real" in options.rows and not real:
        parser.error("the row `real` needs --model and --input")
    if "real" in options.rows and options.peer != "ctranslate2":
        parser.error("the row `real` runs beside CTranslate2 alone")
    return options


def main():
    options = parse()
    if "list" in options.rows:
        print("\n".join(f"{name}: {row.title}" for name, row in ROWS.items()))
        return
    reports = []
    for name in options.rows:
        row = dataclasses.replace(ROWS[name], type=options.type or ROWS[name].type)
        reports.append((row, *measure(row, options)))
        print(table_line(*reports[-1]), file=sys.stderr)
    write(table(reports, options), options.output)


if __name__ == "__main__":
    main()
