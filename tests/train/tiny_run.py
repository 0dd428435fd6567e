"""A training run small enough for tests to start many: its files, its options, and how two runs are compared."""

import gzip
import json
import math
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import wave
import zlib

BUILD = pathlib.Path(os.environ["BUILD_DIR"])
ATTEND, TRAIN = BUILD / "attend", BUILD / "attend-train"
# Hold no promise: the lock's process, clock times and speeds.
UNCOMPARED = {"lock", "timing.jsonl", "tensorboard/events.out.tfevents.attend"}


def write_corpus(folder, seed=7, lines=160, prefix="train"):
    """Word-for-word translation of random words: something that can be learned."""
    words = "one two three four five six seven eight nine ten".split()
    other = "eins zwei drei vier fünf sechs sieben acht neun zehn".split()
    numbers = random.Random(seed)
    source, target = [], []
    for _ in range(lines):
        picks = [numbers.randrange(10) for _ in range(numbers.randint(1, 6))]
        source.append(" ".join(words[k] for k in picks))
        target.append(" ".join(other[k] for k in picks))
    (folder / f"{prefix}.en").write_text("\n".join(source) + "\n", encoding="utf-8")
    (folder / f"{prefix}.de").write_text("\n".join(target) + "\n", encoding="utf-8")


def run_page_block(word, runs):
    """What the block of docs/python.md with this word prints, where `runs` are trained runs by the names that it gives them."""
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/python.md").read_text(encoding="utf-8")
    block = next(block for block in re.findall(r"^```python\n(.*?)^```", page, flags=re.M | re.S) if word in block)
    with tempfile.TemporaryDirectory() as folder:
        for name, run in runs.items():
            (pathlib.Path(folder) / name).symlink_to(run)
        done = subprocess.run(
            [sys.executable, "-c", "import attend\n" + block], cwd=folder, env=environment(PYTHONPATH=BUILD / "python"),
            capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def prepare(folder, vocab_type="bpe", vocab_size=60):
    """Text and vocabulary; returns the options that every run has."""
    write_corpus(folder)
    write_corpus(folder, seed=8, lines=12, prefix="valid")
    command = [ATTEND, "vocab", "--input", folder / "train.en", folder / "train.de", "--size", str(vocab_size), "--type", vocab_type, "--quiet"]
    subprocess.run([*command, "--output", folder / "vocab.spm"], check=True, capture_output=True)
    options = {
        "train_source": folder / "train.en",
        "train_target": folder / "train.de",
        "valid_source": folder / "valid.en",
        "valid_target": folder / "valid.de",
        "vocab": folder / "vocab.spm",
        "dropout": 0.2,
        "batch_tokens": 96,
        "accumulate": 2,
        "ema_decay": 0.9,
        "worker_threads": 2,
        "threads": 2,
        "schedule": "inverse_sqrt",
        "peak_learning_rate": 0.01,
        "warmup_updates": 20,
        "max_updates": 12,
        "validate_every": 2,
        "checkpoint_every": 4,
        "report_every": 3,
        "keep_best": 2,
        "average_last": 2,
        "beam_size": 2,
    }
    for side in ("encoder", "decoder"):
        options |= {f"{side}.layers": 1, f"{side}.d_model": 16, f"{side}.heads": 2, f"{side}.d_ff": 32}
    return options


def streamed(options, folder):
    """The same text in three shards of odd sizes, one packed, with weights and BPE-dropout, in windows of a few batches."""
    shards = {}
    for side in ("source", "target"):
        text = options[f"train_{side}"].read_bytes().splitlines(keepends=True)
        paths = [folder / f"{side}.0", folder / f"{side}.1.gz", folder / f"{side}.2"]
        for path, part in zip(paths, (text[:61], text[61:62], text[62:])):
            path.write_bytes(gzip.compress(b"".join(part)) if path.suffix == ".gz" else b"".join(part))
        shards[f"train_{side}"] = paths
    return options | shards | {"train_weights": ["1", "2.5", "1"], "shuffle_buffer": 37, "bpe_dropout": 0.2}


def denoised(options, folder, kind="spans"):
    """Plain text beside the pairs, two files of it, one packed, with a vocabulary that the run makes."""
    write_corpus(folder, seed=9, lines=100, prefix="plain")
    lines = (folder / "plain.en").read_bytes() * 2
    (folder / "plain.txt.gz").write_bytes(gzip.compress(lines))
    return options | {
        "vocab": None, "vocab_size": 64, "vocab_type": "bpe", "sentinels": 6, "objective": "denoising", "denoising": kind,
        "train_text": [folder / "plain.txt.gz", folder / "plain.de"], "valid_text": options["valid_source"]}


def guided(options, folder):
    """What guides the attention of the only layer: the text's translation is word for word."""
    lines = options["train_source"].read_text(encoding="utf-8").splitlines()
    links = folder / "train.align"
    links.write_text("".join(" ".join(f"{i}-{i}" for i in range(len(line.split()))) + "\n" for line in lines), encoding="utf-8")
    return {"train_alignments": links, "guided_alignment_weight": 0.5}


def write_pictures(folder, name, count, seed, side=8):
    """Grey square pictures in IDX: a bright row is label 0, a bright column 1, over noise."""
    draw = random.Random(seed)
    pixels, labels = bytearray(), bytearray()
    for _ in range(count):
        label, line = draw.randrange(2), draw.randrange(side)
        labels.append(label)
        pixels += bytes(255 if line == (row, column)[label] else draw.randrange(120) for row in range(side) for column in range(side))
    pictures = folder / f"{name}-images-idx3-ubyte"
    pictures.write_bytes(struct.pack(">4I", 2051, count, side, side) + bytes(pixels))
    (folder / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 2049, count) + bytes(labels))
    return pictures


def write_items(folder, name, count, seed):
    """Items whose label text, picture and links each tell in part: two words, a bright row or column, a village in one of two districts."""
    draw = random.Random(seed)
    (folder / name).mkdir()
    (folder / "graph.tsv").write_text(
        "".join(f"village {n}\tlies in\t{'north' if n % 2 else 'south'}\n" for n in range(6)), encoding="utf-8")
    lines = []
    for number in range(count):
        label, line = draw.randrange(2), draw.randrange(8)
        rows = [b"\0" + bytes(255 if line == (row, column)[label] else draw.randrange(120) for column in range(8)) for row in range(8)]
        chunks = [(b"IHDR", struct.pack(">2I5B", 8, 8, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b"")]
        png = b"".join(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)
        (folder / name / f"{number}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + png)
        text = " ".join(draw.choice("one two three four five six seven eight nine ten".split()) for _ in range(draw.randint(1, 6))) + (" odd" if label else " even")
        item = {"id": str(number), "text": text, "picture": f"{name}/{number}.png", "links": [f"village {2 * draw.randrange(3) + label}"]}
        item = {key: value for key, value in item.items() if key == "id" or draw.random() < 0.9} | {"label": ("even", "odd")[label]}
        lines.append(json.dumps(item if len(item) > 2 else item | {"text": text}) + "\n")
    path = folder / f"{name}.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def of_items(options, folder):
    """A small fusion of items of which some lack inputs, and lose more as training goes."""
    text = ("train_", "valid_", "encoder.", "decoder.", "vocab", "beam_size", "preset")
    kept = {name: value for name, value in options.items() if not name.startswith(text)}
    shape = {f"{stack}.{name}": value for stack in ("encoder", "fusion.text", "fusion.picture")
             for name, value in {"layers": 1, "d_model": 16, "heads": 2, "d_ff": 32}.items()}
    return kept | shape | {
        "task": "fusion", "preset": "fusion-tiny", "fusion.patches.height": 8, "fusion.patches.width": 8, "fusion.patches.channels": 1,
        "fusion.patches.patch": 4, "graph_width": 8, "single_input_weight": 0.5, "vocab_size": 24, "vocab_type": "word", "augment.shift": 1,
        "train_items": write_items(folder, "train", 150, 1), "valid_items": write_items(folder, "valid", 40, 2), "graph": folder / "graph.tsv"}


def of_pictures(options, folder):
    """A small classification of pictures that are changed and mixed, without what a text needs."""
    text = ("train_", "valid_", "encoder.", "decoder.", "vocab", "beam_size", "preset")
    kept = {name: value for name, value in options.items() if not name.startswith(text)}
    shape = {"encoder.layers": 1, "encoder.d_model": 16, "encoder.heads": 2, "encoder.d_ff": 32, "patches.height": 8, "patches.width": 8}
    changes = {"augment.shift": 1, "augment.flip": 0.5, "augment.rand_augment": 1, "augment.erase": 0.2, "augment.mixup": 0.4, "augment.cutmix": 1}
    return kept | shape | changes | {
        "task": "classification", "preset": "vit-tiny", "pooling": "first", "train_pictures": write_pictures(folder, "train", 150, 1),
        "valid_pictures": write_pictures(folder, "valid", 40, 2)}


def write_recordings(folder, name, count, seed):
    """A table of WAV files, of two rates: each has some of three words, which are tones of other pitch."""
    draw = random.Random(seed)
    (folder / name).mkdir()
    table = []
    for number in range(count):
        rate = 16000 if number % 5 == 0 else 8000
        words = draw.choices(("low", "mid", "high"), k=draw.randint(1, 3))
        samples = []
        for word in words:
            step = 2 * math.pi * {"low": 500, "mid": 1100, "high": 2300}[word] * draw.uniform(0.95, 1.05) / rate
            samples += [0.5 * math.sin(step * t) + draw.gauss(0, 0.02) for t in range(rate // draw.randint(8, 12))]
            samples += [draw.gauss(0, 0.02) for _ in range(rate // 20)]
        with wave.open(str(folder / name / f"{number}.wav"), "wb") as file:
            file.setparams((1, 2, rate, 0, "NONE", None))
            file.writeframes(struct.pack(f"<{len(samples)}h", *(round(32767 * max(-1, min(1, sample))) for sample in samples)))
        table.append(f"{name}/{number}.wav\t{' '.join(words)}\n")
    path = folder / f"{name}.tsv"
    path.write_text("".join(table), encoding="utf-8")
    return path


def of_recordings(options, folder):
    """A small transcription whose frames are masked, without what a text needs."""
    kept = {name: value for name, value in options.items() if not name.startswith(("train_", "valid_", "vocab", "preset"))}
    return kept | {
        "task": "transcription", "frames.rate": 8000, "frames.fft": 200, "frames.hop": 80, "frames.mels": 16, "vocab_type": "char", "vocab_size": 40,
        "augment.frequency_masks": 1, "augment.frequency_width": 4, "augment.time_masks": 1, "augment.time_width": 4, "batch_tokens": 500, "ctc_weight": 0.3,
        "train_recordings": write_recordings(folder, "train", 100, 1), "valid_recordings": write_recordings(folder, "valid", 12, 2)}


def streamed_documents(options, folder):
    """The same plain text in two files, one packed, in windows of a few blocks."""
    lines = options["train_text"].read_bytes().splitlines(keepends=True)
    files = [folder / "0.txt", folder / "1.txt.gz"]
    files[0].write_bytes(b"".join(lines[:len(lines) // 2]))
    files[1].write_bytes(gzip.compress(b"".join(lines[len(lines) // 2:])))
    return options | {"train_text": files, "stream": [], "shuffle_buffer": 100}


def command_line(options, output, program=TRAIN):
    arguments = [program, "train", "--output", output]
    for name, value in ({"quiet": []} | options).items():
        if value is not None:
            arguments += ["--" + name.replace("_", "-"), *(value if isinstance(value, list) else [value])]
    return [str(argument) for argument in arguments]


def environment(**more):
    return os.environ | {"OMP_WAIT_POLICY": "passive"} | {name: str(value) for name, value in more.items()}


def train(options, output, **more):
    """One start of the program; returns what it did."""
    return subprocess.run(
        command_line(options, output), env=environment(**more), capture_output=True, text=True, timeout=300, check=False
    )


def trained(options, output, **more):
    done = train(options, output, **more)
    assert done.returncode == 0, done.stderr
    return done


def refused(done, status, *parts):
    """The program ended with `status` and a last line that holds `parts`."""
    assert done.returncode == status, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(("attend: ", "attend ")) and "internal error" not in last
    for part in parts:
        assert part in last, last


def metrics(output):
    """What is logged of each update, and of each validation."""
    return [json.loads(line) for line in (output / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def wait_for_updates(output, processes, count):
    """Until `count` updates more than now are logged; all the processes have to live that long."""
    path = output / "metrics.jsonl"

    def lines():
        return path.read_bytes().count(b"\n") if path.exists() else 0

    target = lines() + count
    while lines() < target:
        for process in processes:
            assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def trained_though_killed(options, output, updates):
    """A run that is killed twice, each time after so many updates more, and then goes on to its end."""
    for _ in range(2):
        with subprocess.Popen(command_line(options, output), env=environment(), stderr=subprocess.DEVNULL) as process:
            wait_for_updates(output, [process], updates)
            process.kill()
    trained(options, output)


def timeless(report):
    """A report's page without the clock times and speeds that it shows."""
    shown, speed = re.subn(rb'"speed":(\{[^{}]*\}|null)', b"", report)
    assert speed == 1
    return shown


def contents(output):
    """What two equal runs share of every file."""
    files = (path for path in sorted(output.rglob("*")) if path.is_file())
    named = ((str(path.relative_to(output)), path) for path in files)
    shared = {name: path.read_bytes() for name, path in named if name not in UNCOMPARED}
    if "report.html" in shared:
        shared["report.html"] = timeless(shared["report.html"])
    return shared


def assert_same(output, unbroken):
    found, expected = contents(output), contents(unbroken)
    assert sorted(found) == sorted(expected)
    differing = [first_difference(name, found[name], expected[name]) for name in expected if found[name] != expected[name]]
    assert not differing, differing


def first_difference(name, found, expected):
    """The name, and what stands around the first byte that differs."""
    at = len(os.path.commonprefix([found, expected]))
    return name, at, found[max(0, at - 200):at + 40], expected[max(0, at - 200):at + 40]
