"""Makes the golden models of encoders under tests/data: make_golden_encoders.py BUILD_DIR [OUTPUT_FOLDER]

A tagger of textiles, a classifier of short sentences by topic, and a masked language model of coloured things; each is trained in
under a minute. Run once: what it wrote is kept for ever.
"""

import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

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


def train(build, options, output):
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in (COMMON | options).items()]
    with tempfile.TemporaryDirectory() as run:
        subprocess.run([build / "attend", "train", "--quiet", "--output", pathlib.Path(run) / "run", *arguments], check=True)
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(pathlib.Path(run) / "run/model", output)


def main():
    build, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]) if sys.argv[2:] else ROOT / "tests/data"
    with tempfile.TemporaryDirectory() as temporary:
        text = pathlib.Path(temporary)
        subprocess.run([sys.executable, ROOT / "recipes/tagging/textiles.py", text, "--sentences", "4000"], check=True)
        train(build, {
            "task": "tagging", "preset": "tiny", "train_columns": text / "train.conll", "valid_columns": text / "valid.conll",
            "scheme": "iobes", "crf": "true", "vocab_type": "unigram", "vocab_size": 300, "encoder.d_model": 48, "encoder.d_ff": 96,
            "batch_tokens": 1024, "peak_learning_rate": 0.004, "max_updates": 900, "validate_every": 300}, folder / "golden_tagger")
        for number, part in enumerate(("train", "valid")):
            write_topics(text / f"{part}.tsv", number, 60 if number else 400)
            write_colours(text / f"{part}.txt", number, 40 if number else 400)
        train(build, {
            "task": "classification", "preset": "tiny", "train_table": text / "train.tsv", "valid_table": text / "valid.tsv",
            "vocab_type": "unigram", "vocab_size": 90, "encoder.d_model": 32, "encoder.d_ff": 64, "batch_tokens": 512,
            "peak_learning_rate": 0.005, "max_updates": 150, "validate_every": 50}, folder / "golden_classifier")
        train(build, {
            "task": "masked_language_model", "preset": "bert-tiny", "train_text": text / "train.txt", "valid_text": text / "valid.txt",
            "vocab_type": "word", "vocab_size": 40, "context_tokens": 16, "encoder.d_model": 32, "encoder.d_ff": 64,
            "batch_tokens": 576, "peak_learning_rate": 0.005, "max_updates": 600, "validate_every": 200},
            folder / "golden_masked_language_model")


if __name__ == "__main__":
    main()
