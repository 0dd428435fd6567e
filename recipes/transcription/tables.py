#!/usr/bin/env python3
"""Makes the tables (`path<TAB>text`) of the recipes of transcription from the corpora in DATA, and unpacks their recordings beside them.

usage: tables.py fsdd|fsdd-SPEAKER|fsdd-strings|yesno DATA DIRECTORY

fsdd: spoken digits, by the corpus' own split: indices 0 to 4 of each digit and speaker are the test, 5 to 9 validation, the others
training. fsdd-SPEAKER: all recordings of that speaker are the test, and indices 0 to 4 of the others validation. fsdd-strings:
strings of 3 to 7 digits, recordings of one speaker and one part of the split put together with 0.1 seconds of silence; 4,000 strings
for training, 200 for validation, 300 for the test. yesno: 60 recordings of eight words; in order of their names, the first 31
train, 29 are the test, and every fifth of the former validates, too.
"""

import pathlib
import random
import sys
import tarfile
import wave

WORDS = "zero one two three four five six seven eight nine".split()


def unpack(archive, folder):
    if not any(folder.rglob("*.wav")):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    return sorted(folder.rglob("*.wav"))


def digits(data, directory):
    """(path, digit, speaker, index) of each recording."""
    for path in unpack(data / "fsdd/fsdd.tar.xz", directory / "fsdd"):
        digit, speaker, index = path.stem.split("_")
        yield path, int(digit), speaker, int(index)


def official(index):
    return "test" if index < 5 else "valid" if index < 10 else "train"


def fsdd(data, directory):
    for path, digit, _, index in digits(data, directory):
        yield official(index), path, WORDS[digit]


def held_out(speaker, data, directory):
    for path, digit, own, index in digits(data, directory):
        yield "test" if own == speaker else "valid" if index < 5 else "train", path, WORDS[digit]


def samples_of(path):
    with wave.open(str(path)) as file:
        return file.readframes(file.getnframes())


def strings(data, directory):
    parts = {}
    for path, digit, speaker, index in digits(data, directory):
        parts.setdefault((official(index), speaker), []).append((path, digit))
    speakers = sorted({speaker for _, speaker in parts})
    draw = random.Random(1)
    silence = bytes(2 * 800)
    for part, count in [("train", 4000), ("valid", 200), ("test", 300)]:
        folder = directory / "strings" / part
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(count):
            picks = draw.choices(parts[part, speakers[number % len(speakers)]], k=draw.randint(3, 7))
            path = folder / f"{number}.wav"
            with wave.open(str(path), "wb") as file:
                file.setparams((1, 2, 8000, 0, "NONE", None))
                file.writeframes(silence.join(samples_of(pick) for pick, _ in picks))
            yield part, path, " ".join(WORDS[digit] for _, digit in picks)


def yesno(data, directory):
    paths = [path for path in unpack(data / "yesno/waves_yesno.tar.xz", directory / "yesno") if not path.name.startswith(".")]
    for number, path in enumerate(paths):
        text = " ".join("yes" if word == "1" else "no" for word in path.stem.split("_"))
        yield "train" if number < 31 else "test", path, text
        if number < 31 and number % 5 == 0:
            yield "valid", path, text


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    kind, data, directory = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    if kind.startswith("fsdd-") and kind != "fsdd-strings":
        rows = held_out(kind.removeprefix("fsdd-"), data, directory)
    else:
        rows = {"fsdd": fsdd, "fsdd-strings": strings, "yesno": yesno}[kind](data, directory)
    tables = {"train": [], "valid": [], "test": []}
    directory.mkdir(parents=True, exist_ok=True)
    for part, path, text in rows:
        tables[part].append(f"{path.relative_to(directory)}\t{text}\n")
    for part, lines in tables.items():
        if not lines:
            sys.exit(f"{part} has no recording; is the speaker's name right?")
        (directory / f"{part}.tsv").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
