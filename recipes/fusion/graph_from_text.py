#!/usr/bin/env python3
"""Fills the graph and the links of the woven catalogue from its raw descriptions, with a tagger of textiles.

usage: graph_from_text.py TAGGER DATA DIRECTORY     needs the Python package attend

TAGGER is the model of recipes/tagging/textiles.toml, DATA the catalogue of tools/woven_catalogue. DIRECTORY gets a catalogue of the same form
(its pictures stay in DATA). Of DATA's graph only the places stay: where workshops lie and what trades with what. What workshops practise,
weave and show comes from the entities that the tagger finds in the descriptions of training items. The links of every item are what the
tagger finds in its own description, so far as the graph knows it. The program prints how many of the catalogue's own links that gives.
"""

import collections
import json
import os
import pathlib
import sys

import attend

PLACES = {"lies in", "in district", "in province", "trades with"}
RELATIONS = {"TECHNIQUE": "practises", "MATERIAL": "weaves", "MOTIF": "shows"}  # of a workshop
SEEN = 2  # descriptions that say the same, before it is believed


def read_items(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def entities(tagger, items):
    """Of each item {type: names}: those of places as written, others in small letters."""
    found = []
    for tagged in tagger.tag([item["text"] for item in items]):
        names = collections.defaultdict(list)
        for entity in tagged.entities:
            name = entity.text if entity.label == "CLUSTER" else entity.text.lower()
            if name not in names[entity.label]:
                names[entity.label].append(name)
        found.append(names)
    return found


def told(found):
    """The triples that enough descriptions state."""
    counts = collections.Counter(
        (workshop, relation, name) for names in found for workshop in names["CLUSTER"] for kind, relation in RELATIONS.items() for name in names[kind])
    return [triple for triple, count in sorted(counts.items()) if count >= SEEN]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    tagger, data, directory = attend.load(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    directory.mkdir(parents=True, exist_ok=True)
    parts = {name: read_items(data / f"{name}.jsonl") for name in ("train", "valid", "test")}
    found = {name: entities(tagger, items) for name, items in parts.items()}
    triples = [line.split("\t") for line in (data / "graph.tsv").read_text(encoding="utf-8").splitlines()]
    triples = [triple for triple in triples if triple[1] in PLACES] + told(found["train"])
    (directory / "graph.tsv").write_text("".join("\t".join(triple) + "\n" for triple in triples), encoding="utf-8")
    nodes = {node for begin, _, end in triples for node in (begin, end)}
    for name, items in parts.items():
        right = wrong = all_links = 0
        with (directory / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for item, names in zip(items, found[name], strict=True):
                links = [each for kind in ("CLUSTER", *RELATIONS) for each in names[kind] if each in nodes]
                right += len(set(links) & set(item["links"]))
                wrong += len(set(links) - set(item["links"]))
                all_links += len(set(item["links"]))
                item |= {"links": links, "picture": os.path.relpath(data / item["picture"], directory)}
                file.write(json.dumps(item) + "\n")
        print(f"{name}: {right} of {all_links} links found, {wrong} others")


if __name__ == "__main__":
    main()
