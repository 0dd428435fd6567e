#!/usr/bin/env python3
"""Makes sentences about sarees and other cloth with their entities, as a catalogue of textiles would have them.

usage: textiles.py DIRECTORY [--seed N] [--sentences N]

Writes train.conll, valid.conll and test.conll: a word a line with its label (IOB2), an empty line after each sentence. The
entities are CLUSTER (where it is made), TECHNIQUE, MATERIAL, PART, FEATURE (how a surface looks) and MOTIF. A quarter of the
names and a third of the sentence shapes are held out: training has none of them, validation and test sentences are of held-out
shapes, with names that training has and names that it lacks. The same seed gives the same files.
"""

import argparse
import pathlib
import random

# Names in use for crafts, gathered from common knowledge of the field.
NAMES = {
    "CLUSTER": """Kanchipuram|Banaras|Varanasi|Chanderi|Maheshwar|Paithan|Patan|Pochampally|Sambalpur|Bishnupur|Gadwal|Uppada|Venkatagiri|
        Mangalagiri|Kota|Bagru|Sanganer|Ajrakhpur|Bhuj|Lucknow|Srinagar|Kullu|Bhagalpur|Sualkuchi|Ilkal|Molakalmuru|Narayanpet|Dharmavaram|
        Arani|Thirubuvanam|Chettinad|Salem|Balaramapuram|Chendamangalam|Kasaragod|Kuthampully|Phulia|Shantipur|Begampur|Murshidabad|
        Nuapatna|Barpali|Bomkai|Kotpad|Champa|Surat|Jamnagar|Mandvi|Barmer|Jaipur|Farrukhabad|Machilipatnam|Srikalahasti|Siddipet|Solapur|
        Bengaluru|Mysuru|Kumbakonam|Coimbatore|Madurai|Nagpur|Panipat|Ludhiana|Imphal|Kohima|Agartala|Dhaka|Tangail|Kyoto|Nishijin|
        Oaxaca|Bonwire|Harris|Donegal|Lyon|Como|Pekalongan|Cirebon|Tenganan|Margilan|Bukhara|Isfahan|Kashan""",
    "TECHNIQUE": """korvai|petni|jamdani|kadhua|fekwa|meenakari|ikat|bandhani|patola|ajrakh|dabu|kalamkari|batik|chikankari|zardozi|aari|
        kantha|phulkari|sozni|kani|leheriya|shibori|block printing|screen printing|hand painting|tie and dye|resist dyeing|yarn dyeing|
        extra weft|brocade weaving|tapestry weaving|double weaving|three-shuttle weaving|plain weaving|twill weaving|mirror work|applique|
        patchwork|smocking|crochet|tatting|quilting|gota patti|mukaish|pitta work|couching|drawn thread work|cutwork""",
    "MATERIAL": """silk|mulberry silk|tussar silk|eri silk|muga silk|raw silk|cotton|organic cotton|muslin|khadi|linen|wool|pashmina|merino|
        jute|hemp|banana fibre|bamboo|viscose|modal|tissue|organza|georgette|chiffon|crepe|satin|velvet|silver zari|gold zari|copper zari|
        tested zari|silk cotton|cotton silk|wool silk|camel hair|mohair|nettle|pineapple fibre|lotus fibre|polyester""",
    "PART": """border|body|pallu|blouse piece|selvedge|fringe|end piece|panel|yoke|sleeve|hem|collar|lining|field|centre|tassel|edge|
        waistband|pleat|cuff|neckline|skirt|shawl end|corner|cross border|inner border|upper border|lower border""",
    "FEATURE": """contrast|zari-rich|self-striped|checked|striped|plain|shot|two-tone|ribbed|textured|glossy|matte|sheer|crisp|ombre|
        tone-on-tone|slubbed|crinkled|embossed|gilded|temple-edged|scalloped|serrated|finely pleated|densely woven|lightly starched|
        hand-spun|sequinned|beaded|mirror-studded|lustrous|iridescent|muted|jewel-toned|pastel|indigo|madder-red|turmeric-yellow""",
    "MOTIF": """peacock|mango|paisley|lotus|temple|elephant|parrot|swan|lion|deer|coin|rudraksha|creeper|tree of life|diamond|chevron|
        chequer|star|moon|conch|fish|butterfly|jasmine|rose|betel leaf|vine|arrowhead|wave|step|hexagon|medallion|horse|chariot|turtle|
        pine cone|almond|pomegranate|fish scale|honeycomb|basket weave""",
}
CLOTH = "sarees|dupattas|shawls|stoles|dhotis|fabrics|scarves|furnishings|turbans|lehengas|yardages|throws".split("|")
WORK = "joining|work|weaving|technique|detailing".split("|")

# {C} cluster, {T} technique, {M} material, {P} part, {Ps} its plural, {F} feature, {D} motif, {Ds} its plural, {K} a kind of
# cloth, {W} a word for work. The first two thirds are for training.
SHAPES = [
    "{C} {K} have {F} {Ps} .",
    "{C} {K} have {F} {Ps} and {M} {Ps} .",
    "The {K} of {C} are woven in {M} with {D} motifs .",
    "{K} from {C} combine {T} with {M} .",
    "A {F} {P} and a {M} {P} mark these {K} .",
    "Weavers in {C} use {T} to make {D} motifs on the {P} .",
    "Made of {M} , the {P} carries {D} and {D} motifs .",
    "{C} is famous for {T} .",
    "{C} is famous for {T} , {F} {Ps} and {D} motifs .",
    "These {K} pair a {F} {P} with {F} {Ps} .",
    "{T} {W} , {M} {P} , {D} motifs : a {K} set from {C} .",
    "The {P} is {F} , the {P} is of {M} .",
    "Look for {D} motifs along the {P} .",
    "Each piece has {F} {Ps} , {F} {Ps} and a {M} {P} .",
    "Buyers know {C} for {F} {Ps} , {T} {W} , and {M} {Ps} .",
    "This {M} {P} is finished with {T} .",
    "Artisans of {C} still practise {T} and {T} .",
    "The {P} shows a row of {Ds} in {M} .",
    "{K} with {D} motifs and {F} {Ps} come from {C} .",
    "In {C} , {M} is turned into {K} with {F} {Ps} .",
    "Its {Ps} are {F} and its {P} is {F} .",
    "We sell {C} {K} in {M} , {M} and {M} .",
    "A {C} stole : {M} , {T} , {D} motifs .",
    "{K} known for {T} have {F} {Ps} .",
    # held out
    "{C} {K} are known for {F} {Ps} , {T} {W} , {M} {P} , and {F} {Ps} .",
    "Expect {F} {Ps} , {D} motifs and {T} {W} in {K} of {C} .",
    "{M} from {C} is used for the {P} , where {Ds} are made by {T} .",
    "The {F} {P} of {C} {K} carries {D} motifs in {M} .",
    "What sets {C} apart is {T} on {M} .",
    "With {M} {Ps} and {F} {Ps} , {C} {K} suit every season .",
    "{T} gives the {P} its {Ds} .",
    "Both {C} and {C} make {K} of {M} with {F} {Ps} .",
    "{D} motifs , {F} {Ps} , {M} : that is {C} .",
    "Our {K} come with a {F} {P} , {T} {W} and a {M} {P} .",
    "No {K} without {T} , say the weavers of {C} .",
    "Along each {P} run {Ds} , worked in {M} by {T} .",
]  # fmt: skip
KINDS = {"C": "CLUSTER", "T": "TECHNIQUE", "M": "MATERIAL", "P": "PART", "F": "FEATURE", "D": "MOTIF"}


def plural(name):
    if name.endswith(("s", "sh", "ch", "x")):
        return name + "es"
    if name.endswith("y") and name[-2] not in "aeiou":
        return name[:-1] + "ies"
    return name + "s"


class Grammar:
    """Draws sentences from shapes and names."""

    def __init__(self, generator, names, shapes):
        self.generator, self.names, self.shapes = generator, names, shapes

    def slot(self, slot):
        """Words of one slot, and the type of entity that they are, if any."""
        if slot == "K":
            return [self.generator.choice(CLOTH)], None
        if slot == "W":
            return [self.generator.choice(WORK)], None
        name = self.generator.choice(self.names[KINDS[slot[0]]])
        return (plural(name) if slot.endswith("s") else name).split(), KINDS[slot[0]]

    def sentence(self):
        """[(word, label)]"""
        pairs = []
        for part in self.generator.choice(self.shapes).split():
            words, kind = self.slot(part.strip("{}")) if part.startswith("{") else ([part], None)
            for place, word in enumerate(words):
                pairs.append((word, "O" if kind is None else f"{'I' if place else 'B'}-{kind}"))
        first, label = pairs[0]
        pairs[0] = (first[0].upper() + first[1:], label)
        return pairs


def write(path, grammar, count):
    text = ""
    for _ in range(count):
        text += "".join(f"{word} {label}\n" for word, label in grammar.sentence()) + "\n"
    path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sentences", type=int, default=8000, help="of training; validation and test have an eighth each")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    generator = random.Random(options.seed)
    known, all_names = {}, {}
    for kind, text in NAMES.items():
        names = [name.strip() for name in text.split("|")]
        # Kanchipuram, korvai, silk, border, body and pallu lead the lists; what leads them is never held out.
        rest = names[3:]
        generator.shuffle(rest)
        known[kind] = names[:3] + rest[: len(rest) * 3 // 4]
        all_names[kind] = names
    shapes = len(SHAPES) * 2 // 3
    training = Grammar(generator, known, SHAPES[:shapes])
    held_out = Grammar(generator, all_names, SHAPES[shapes:])
    write(options.directory / "train.conll", training, options.sentences)
    write(options.directory / "valid.conll", held_out, options.sentences // 8)
    write(options.directory / "test.conll", held_out, options.sentences // 8)


if __name__ == "__main__":
    main()
