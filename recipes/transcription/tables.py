#!/usr/bin/env python3
"""Makes the tables (`path<TAB>text`) of the recipes of transcription from the corpora in DATA, and unpacks their recordings beside them.

usage: tables.py fsdd|fsdd-SPEAKER|fsdd-strings|yesno DATA DIRECTORY

fsdd: spoken digits, by the corpus' own split: indices 0 to 4 of each digit and speaker are the test, 5 to 9 validation, the others
training. fsdd-SPEAKER: all recordings of that speaker are the test, and indices 0 to 4 of the others validation; quiet ends, which one
speaker has, are cut off as in voices.py. fsdd-strings:
strings of 3 to 7 digits, recordings of one speaker and one part of the split put together with 0.1 seconds of faint noise; 200 strings
for validation, 300 for the test; for training 4,000 strings of 2 to 7 digits and all single ones. yesno: 60 recordings of eight words;
in order of their names, the first 24 train, 7 validate and 29 are the test. The words of those that train are cut out at the pauses
between them, and put together again in 3,000 other recordings of 1 to 10 words.
"""

import array
import pathlib
import random
import sys
import tarfile
import wave

RATE = 8000
WORDS = "zero one two three four five six seven eight nine".split()


def unpack(archive, folder):
    if not folder.exists():
        part = folder.with_name(folder.name + ".part")
        with tarfile.open(archive) as packed:
            packed.extractall(part, filter="data")
        part.rename(folder)
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


def without_quiet_ends(samples):
    """What is louder than a fiftieth of the loudest sample, and a hundredth of a second around it; nothing is of zeros alone."""
    most = max(map(abs, samples), default=0)
    loud = [i for i, sample in enumerate(samples) if abs(sample) * 50 > most]
    return samples[max(0, loud[0] - RATE // 100) : loud[-1] + RATE // 100] if loud else samples[:0]


def held_out(speaker, data, directory):
    for path, digit, own, index in digits(data, directory):
        cut = directory / "cut" / path.name
        write(cut, [without_quiet_ends(array.array("h", samples_of(path))).tobytes()])
        yield "test" if own == speaker else "valid" if index < 5 else "train", cut, WORDS[digit]


def samples_of(path):
    with wave.open(str(path)) as file:
        return file.readframes(file.getnframes())


def quiet(draw, count, loudness):
    """Samples of faint noise, as every room has it: the logarithm of no sound at all is far below that of any other."""
    return array.array("h", (round(draw.gauss(0, loudness)) for _ in range(count))).tobytes()


def write(path, parts):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", None))
        file.writeframes(b"".join(parts))


def strings(data, directory):
    parts = {}
    for path, digit, speaker, index in digits(data, directory):
        parts.setdefault((official(index), speaker), []).append((path, digit))
        if official(index) == "train":
            yield "train", path, WORDS[digit]
    speakers = sorted({speaker for _, speaker in parts})
    draw = random.Random(1)
    for part, count, least in [("train", 4000, 2), ("valid", 200, 3), ("test", 300, 3)]:
        for number in range(count):
            picks = draw.choices(parts[part, speakers[number % len(speakers)]], k=draw.randint(least, 7))
            path = directory / "strings" / part / f"{number}.wav"
            write(path, [part for pick, _ in picks for part in (samples_of(pick), quiet(draw, RATE // 10, 5))][:-1])
            yield part, path, " ".join(WORDS[digit] for _, digit in picks)


def words_of(path, count):
    """The samples of each word of a recording, cut in the middles of the `count` - 1 longest pauses; none where that can't be so."""
    sound = samples_of(path)
    step = 2 * RATE // 100
    pieces = [sound[at : at + step] for at in range(0, len(sound) - step + 1, step)]
    loudness = [sum(abs(int.from_bytes(piece[i : i + 2], "little", signed=True)) for i in range(0, step, 2)) for piece in pieces]
    threshold = sorted(loudness)[len(loudness) * 3 // 10] * 2
    above = [each > threshold for each in loudness]
    loud = [i for i in range(len(above)) if above[i] and sum(above[max(0, i - 10) : i + 11]) > 9]  # clicks are shorter
    pauses = sorted(((after - before, before, after) for before, after in zip(loud, loud[1:]) if after - before > 1), reverse=True)[: count - 1]
    cuts = sorted((before + after) // 2 for _, before, after in pauses)
    if len(cuts) != count - 1 or any(not 40 <= end - begin <= 80 for begin, end in zip(cuts, cuts[1:])):  # hundredths of a second
        return []
    ends = [max(0, cuts[0] - 70), *cuts, cuts[-1] + 70]
    return [b"".join(pieces[begin:end]) for begin, end in zip(ends, ends[1:])]


def yesno(data, directory):
    paths = [path for path in unpack(data / "yesno/waves_yesno.tar.xz", directory / "yesno") if not path.name.startswith(".")]
    words = []
    for number, path in enumerate(paths):
        text = ["yes" if word == "1" else "no" for word in path.stem.split("_")]
        part = "test" if number >= 31 else "valid" if number >= 24 else "train"
        yield part, path, " ".join(text)
        if part == "train":
            found = words_of(path, len(text))
            words += zip(found, text[: len(found)], strict=True)
    draw = random.Random(1)
    for number in range(3000):
        picks = draw.choices(words, k=draw.randint(1, 10))
        path = directory / "strings" / f"{number}.wav"
        around = [quiet(draw, draw.randint(0, RATE), 50) for _ in range(2)]  # as loud as between the words of the corpus
        write(path, [around[0], *(word for word, _ in picks), around[1]])
        yield "train", path, " ".join(word for _, word in picks)


def main():
    if "--help" in sys.argv[1:]:
        return print(__doc__)
    kinds = {"fsdd": fsdd, "fsdd-strings": strings, "yesno": yesno}
    if len(sys.argv) != 4 or not (sys.argv[1] in kinds or sys.argv[1].startswith("fsdd-")):
        sys.exit(__doc__)
    kind, data, directory = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    if kind in kinds:
        rows = kinds[kind](data, directory)
    else:
        rows = held_out(kind.removeprefix("fsdd-"), data, directory)
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
