"""Models of encoders to serve and to run: a tagger of textiles, a classifier of short sentences by topic, and a masked language model of
coloured things. They are trained once for a build, in some seconds each.
"""

import fcntl
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import pytest

BUILD = pathlib.Path(os.environ["BUILD_DIR"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMON = {
    "encoder.layers": 2, "encoder.heads": 4, "encoder.positions": "learned", "encoder.max_positions": 66, "dropout": 0.1, "normalization": "none",
    "label_smoothing": 0, "worker_threads": 1, "threads": 1, "schedule": "cosine", "warmup_updates": 50, "average_last": 1}
TOPICS = {
    "weather": ("the sky|rain|a cold wind|the morning sun|snow|a storm|fog", "comes from the west|ends before noon|covers the hills|gets stronger at night"),
    "food": ("fresh bread|the soup|a ripe mango|hot rice|the cheese|sweet tea|grilled fish", "tastes of pepper|needs more salt|is on the table|smells good"),
    "sport": ("the team|a young runner|the goalkeeper|our coach|the captain|a fast swimmer|the striker", "wins the final|trains twice a day|loses by one point|scores again"),
}
PAIRS = {"red": "apple", "blue": "sky", "green": "grass", "white": "snow", "black": "coal", "yellow": "sun"}


def write_topics(path, seed, lines):
    numbers = random.Random(seed)
    text = ""
    for _ in range(lines):
        topic = numbers.choice(sorted(TOPICS))
        text += topic + "\t" + " ".join(numbers.choice(part.split("|")) for part in TOPICS[topic]) + "\n"
    path.write_text(text, encoding="utf-8")


def write_colours(path, seed, lines):
    numbers = random.Random(seed)
    text = [" ".join(f"{colour} {PAIRS[colour]}" for colour in numbers.choices(list(PAIRS), k=4)) for _ in range(lines)]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def run_training(arguments, output):
    with tempfile.TemporaryDirectory() as run:
        subprocess.run([BUILD / "attend", "train", "--quiet", "--output", pathlib.Path(run) / "run", *arguments], check=True)
        shutil.copytree(pathlib.Path(run) / "run/model", output)


def train(options, output):
    run_training([f"--{name.replace('_', '-')}={value}" for name, value in (COMMON | options).items()], output)


def train_tagger(text, output):
    subprocess.run([sys.executable, ROOT / "recipes/tagging/textiles.py", text, "--sentences", "10000"], check=True)
    recipe = ROOT / "recipes/tagging/textiles_small.toml"
    run_training(["--config", recipe, "--data-dir", text, "--threads", "1", "--encoder.positions", "learned", "--encoder.max-positions", "66"], output)


def train_classifier(text, output):
    write_topics(text / "train.tsv", 0, 400)
    write_topics(text / "valid.tsv", 1, 60)
    train({
        "task": "classification", "preset": "tiny", "train_table": text / "train.tsv", "valid_table": text / "valid.tsv",
        "vocab_type": "unigram", "vocab_size": 90, "encoder.d_model": 32, "encoder.d_ff": 64, "batch_tokens": 512,
        "peak_learning_rate": 0.005, "max_updates": 150, "validate_every": 150}, output)


def train_masked_language_model(text, output):
    write_colours(text / "train.txt", 0, 400)
    write_colours(text / "valid.txt", 1, 40)
    train({
        "task": "masked_language_model", "preset": "bert-tiny", "train_text": text / "train.txt", "valid_text": text / "valid.txt",
        "vocab_type": "word", "vocab_size": 40, "context_tokens": 16, "encoder.d_model": 32, "encoder.d_ff": 64,
        "batch_tokens": 576, "peak_learning_rate": 0.005, "max_updates": 600, "validate_every": 600}, output)


MAKERS = {"tagger": train_tagger, "classifier": train_classifier, "masked_language_model": train_masked_language_model}


def trained_encoders(*names):
    """Directories of MAKERS' models, which are made now if no test of this build has done so."""
    if not (BUILD / "attend-train").exists():
        pytest.skip("built without Torch", allow_module_level=True)
    folder = BUILD / "tests/encoder_models"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in names:
            if (folder / name).exists():
                continue
            with tempfile.TemporaryDirectory(dir=folder) as temporary:
                MAKERS[name](pathlib.Path(temporary), pathlib.Path(temporary) / "model")
                (pathlib.Path(temporary) / "model").rename(folder / name)
    return [folder / name for name in names]
