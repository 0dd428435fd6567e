#!/usr/bin/env python3
"""Makes the items and the graph of the recipes of fusion from the corpora in DATA.

usage: tables.py fashion-catalogue|fashion-names DATA DIRECTORY

Writes train.jsonl, valid.jsonl and test.jsonl, an item a line: {"id", "text", "picture", "links", "label"}; graph.tsv, lines of
node<TAB>relation<TAB>node; and the pictures below pictures/, where the items' paths lead.

fashion-catalogue: the items that have a picture, in the corpus' own split (by the name, so that equal names stay together), with
their subCategory as the label. Classes that the training items lack are left out.

The text is the name without the words that say what the item is, whom it is for and what colour it has:
- Words stand between blanks. A word's form is its letters and digits in lower case, so T-Shirt has the form of TShirt.
- Hidden forms are those of every word in any value of articleType, subCategory, masterCategory, gender and baseColour ("Sports
  Shoes" hides sports and shoes; but not "and"), of each such value written as one word (Track Pants: trackpants), and of the words
  in FURTHER below, all of them with a plural's s or es, and with or without an s in front of which 's was.
- A word of several parts with - / , or & between them goes if any part has a hidden form. Two neighbours go where their joined form
  is hidden (T Shirt, Flip Flop).
A name of which nothing remains is no text.
fashion-names: the same items with their whole names, for pictures to be found by.

The links are nodes of the gender, base colour, season, year and usage, as far as the item has them, and of the brand. The brand is
the first word of the text, and the next one too as long as at least 80 % of the training items that begin so go on with it. It is a
node where 3 training items have it. Articles and categories are no nodes, and the triples relate brands alone, by all items of the
training part, with and without pictures: at least half of a brand's items have the usage, gender, season or colour (mostly_...), or
a tenth of them (also_...). No count has an item of validation or test.
"""

import collections
import gzip
import json
import pathlib
import re
import sys
import zipfile

HIDING = ["articleType", "subCategory", "masterCategory", "gender", "baseColour"]
FURTHER = {
    "gender": "man woman gent gents lady ladies female male kid kids infant teen him her his",
    "type": "tee sneaker loafer slipper boot moccasin ballerina bellies clog floater pump wedge slip-on jogger pant denim chino cargo "
            "bermuda jegging shade goggle aviator wayfarer glass purse tote satchel sling hobo pullover cardigan hoodie hood jersey "
            "blouse pyjama lingerie thong hipster boyshort bikini vest singlet deo eau edt edp parfum cologne spray dial chronograph "
            "analog analogue timepiece beanie muffler footwear apparel accessory wear bagpack laptop buckle",
    "colour": "multicolour multicoloured multicolor color colour coloured colored dark light",
}
LINKS = ["gender", "baseColour", "season", "year", "usage"]
RELATED = ["usage", "gender", "season", "baseColour"]


def form(word):
    return re.sub(r"[^a-z0-9]", "", word.lower())


def forms(word):
    """The word's form, and those of its singular and plural."""
    plain = form(word)
    ends = [plain, plain + "s", plain + "es"]
    if plain.endswith("s"):
        ends.append(plain[:-1])
    if plain.endswith("es"):
        ends.append(plain[:-2])
    if plain.endswith("ies"):
        ends.append(plain[:-3] + "y")
    if plain.endswith("y"):
        ends.append(plain[:-1] + "ies")
    return {end for end in ends if len(end) > 1}


def hidden_forms(rows):
    words = {word for words in FURTHER.values() for word in words.split()}
    for value in {row[column] for row in rows for column in HIDING}:
        words |= {value, *value.split()}
    return {each for word in words - {"and", "NA"} for each in forms(word)}


def visible(name, hidden):
    """The name's words that are not hidden."""
    words = name.split()
    gone = [form(word) in hidden or any(form(part) in hidden for part in re.split(r"[-/,&]", word)) for word in words]
    for i in range(len(words) - 1):
        if form(words[i] + words[i + 1]) in hidden:
            gone[i] = gone[i + 1] = True
    return [word for word, hide in zip(words, gone) if not hide]


class Brands:
    """Which words a text begins with are a brand, learned from the training items' texts."""

    def __init__(self, texts):
        self.counts = collections.Counter(tuple(map(form, words[:end])) for words in texts for end in range(1, len(words) + 1))
        self.next = collections.defaultdict(collections.Counter)
        for start, count in self.counts.items():
            self.next[start[:-1]][start] = count

    def of(self, words):
        """None where there are fewer than 3 items of it."""
        brand = tuple(map(form, words[:1]))
        if self.counts[brand] < 3:
            return None
        while len(brand) < len(words):
            longer = (*brand, form(words[len(brand)]))
            if self.counts[longer] < max(3, 0.8 * self.counts[brand]):
                break
            brand = longer
        return "brand:" + " ".join(brand)


def node(column, row):
    return None if row[column] in ("", "NA") else f"{column}:{row[column]}"


def triples(rows):
    """What at least a tenth of a brand's items have, and what half of them have."""
    of_brand = collections.defaultdict(list)
    for row in rows:
        if row["brand"]:
            of_brand[row["brand"]].append(row)
    for brand, items in sorted(of_brand.items()):
        for column in RELATED:
            for value, count in sorted(collections.Counter(filter(None, (node(column, row) for row in items))).items()):
                if 10 * count >= len(items):
                    yield brand, f"{'mostly' if 2 * count >= len(items) else 'also'}_{column}", value


def fashion_catalogue(data, directory, whole_names=False):
    with gzip.open(data / "fashion-catalogue/items.tsv.gz", "rt", encoding="utf-8") as file:
        header, *lines = file.read().removesuffix("\n").split("\n")
    rows = [dict(zip(header.split("\t"), line.split("\t"))) for line in lines]
    hidden = hidden_forms(rows)
    for row in rows:
        row["text"] = visible(row["name"], hidden)
    train = [row for row in rows if row["split"] == "train"]
    brands = Brands([row["text"] for row in train])
    for row in rows:
        row["brand"] = brands.of(row["text"])
    graph = sorted(set(triples(train)))
    nodes = {end for start, _, other in graph for end in (start, other)}
    # Values that no brand is related to are nodes all the same.
    kinds = {node(column, row): column for row in train for column in LINKS if node(column, row)}
    graph += [(value, "is_a", f"kind:{column}") for value, column in sorted(kinds.items())]
    nodes |= kinds.keys()
    pictured = [row for row in rows if row["has_image"] == "1"]
    known = {row["subCategory"] for row in pictured if row["split"] == "train"}
    for part in ("train", "valid", "test"):
        with (directory / f"{part}.jsonl").open("w", encoding="utf-8") as file:
            for row in pictured:
                if row["split"] != part or row["subCategory"] not in known:
                    continue
                links = [link for link in [row["brand"], *(node(column, row) for column in LINKS)] if link in nodes]
                text = row["name"] if whole_names else " ".join(row["text"]) or None
                item = {"id": row["id"], "text": text, "picture": f"pictures/{row['id']}.jpg", "links": links}
                print(json.dumps(item | {"label": row["subCategory"]}, ensure_ascii=False), file=file)
    (directory / "graph.tsv").write_text("".join("\t".join(triple) + "\n" for triple in graph), encoding="utf-8")
    with zipfile.ZipFile(data / "fashion-catalogue/images.zip") as pictures:
        pictures.extractall(directory / "pictures")


def main():
    if "--help" in sys.argv[1:]:
        return print(__doc__)
    kinds = {"fashion-catalogue": False, "fashion-names": True}
    if len(sys.argv) != 4 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    name, data, directory = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    directory.mkdir(parents=True, exist_ok=True)
    fashion_catalogue(data, directory, whole_names=kinds[name])


if __name__ == "__main__":
    main()
