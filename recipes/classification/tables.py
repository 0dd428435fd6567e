#!/usr/bin/env python3
"""Makes the tables (`label<TAB>text`) of the recipes of classification from the corpora in DATA.

usage: tables.py fashion-catalogue|languages DATA DIRECTORY

fashion-catalogue: names of items by subCategory, in the corpus' own split, without the one class that its training part lacks.
languages: sentences of flores101 by language, the first 800 of each for training, 100 for validation and 112 for the test; sentence i is the same one in all languages, so no
sentence of the test was seen in another language. The English and German training sentences of Tatoeba add everyday text: 2,000
each for training, 500 each of its test text for the test.
"""

import gzip
import pathlib
import sys


def read(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as file:
        return file.read().removesuffix("\n").split("\n")


def fashion_catalogue(data):
    header, *rows = (line.split("\t") for line in read(data / "fashion-catalogue/items.tsv.gz"))
    split, label, name = header.index("split"), header.index("subCategory"), header.index("name")
    for row in rows:
        yield row[split], row[label], row[name]


def languages(data):
    for path in sorted((data / "flores101").glob("*.devtest.gz")):
        language = path.name.split(".")[0].split("_")[0]
        for number, sentence in enumerate(read(path)):
            yield "train" if number < 800 else "valid" if number < 900 else "test", language, sentence
    for language, code in [("eng", "en"), ("deu", "de")]:
        for part, file, count in [("train", f"train.{code}.gz", 2000), ("test", f"test.{code}", 500)]:
            lines = read(data / "tatoeba-en-de" / file)
            for sentence in lines[:: len(lines) // count][:count]:
                yield part, language, sentence


def main():
    if "--help" in sys.argv[1:]:
        return print(__doc__)
    kinds = {"fashion-catalogue": fashion_catalogue, "languages": languages}
    if len(sys.argv) != 4 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    name, data, directory = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    tables = {"train": [], "valid": [], "test": []}
    for part, label, text in kinds[name](data):
        tables[part].append((label, text))
    known = {label for label, _ in tables["train"]}
    directory.mkdir(parents=True, exist_ok=True)
    for part, lines in tables.items():
        text = "".join(f"{label}\t{text}\n" for label, text in lines if label in known)
        (directory / f"{part}.tsv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
