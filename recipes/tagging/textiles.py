#!/usr/bin/env python3
"""Makes sentences about sarees and other cloth with their entities, as a catalogue of textiles would have them.

usage: textiles.py DIRECTORY [--seed N] [--sentences N]

Writes train.conll, valid.conll and test.conll: a word a line with its label (IOB2), an empty line after each sentence. The
entities are CLUSTER (where it is made), TECHNIQUE, MATERIAL, PART, FEATURE (how a surface looks) and MOTIF. A quarter of the
names and a third of the sentence shapes are held out: training has none of them, validation and test sentences are of held-out
shapes, with names that training has and names that it lacks. Training also has shapes composed of phrases and shapes spliced from two
others, some of its words are exchanged, and half of its names are invented, a new one each time: a model must learn to read a name's
neighbours and form, not lists of names and shapes. The same seed gives the same files.
"""

import argparse
import pathlib
import random
import re

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
ALL_NAMES = {name.strip() for names in NAMES.values() for name in names.split("|")}
CLOTH = "sarees|dupattas|shawls|stoles|dhotis|fabrics|scarves|furnishings|turbans|lehengas|yardages|throws".split("|")
WORK = "joining|work|weaving|technique|detailing".split("|")

# {C} cluster, {T} technique, {M} material, {P} part, {Ps} its plural, {F} feature, {D} motif, {Ds} its plural, {K} a kind of
# cloth, {W} a word for work.
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
]  # fmt: skip
HELD_OUT = [
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
# Forms of invented names; {x} is an invented word.
INVENTED = {
    "CLUSTER": "{X}|{X}|{X}|{X}pur|{X}nagar|{X}patti|{X}i|{X}a",
    "TECHNIQUE": "{x}|{x}|{x}i|{x} weaving|{x} printing|{x} dyeing|{x} work|{x} stitch|{x} weft|{x}ing|{x} and {x}|{x} {x}i|{x}work",
    "MATERIAL": "{x}|{x}|{x}|{x}|{x} silk|{x} cotton|{x} wool|{x} zari|{x} fibre|{x} hair|{x} linen|{x}ster|{x}ette|cotton {x}|silk {x}",
    "PART": "{x}|{x}|{x}|{x}line|{x}band|{x} end|{x} piece|{x} {x}|upper {x}|lower {x}|inner {x}|outer {x}|cross {x}",
    "FEATURE": "{x}|{x}|{x}|{x}ed|{x}ed|{x}-{x}ed|{x}-rich|{x}-edged|{x}-toned|{x}-{x}|finely {x}ed|densely {x}ed|{x}y|{x}ous|{x}ent|{x}-on-{x}",
    "MOTIF": "{x}|{x}|{x}|{x} leaf|{x} scale|{x} cone|{x} weave|{x} of {x}|tree of {x}|{x}er|{x}fly|{x}wheel",
}
BEGINNINGS = "b|bh|br|c|ch|d|dh|f|fl|g|gr|h|j|k|kh|l|m|n|p|pl|r|s|sh|sk|sp|st|t|th|tr|v|w|z|".split("|")
MIDDLES = "a|e|i|o|u|aa|ai|ea|ee|oo|ou|ia".split("|")
ENDS = "|||l|m|n|r|t|k|nd|ng|nt|rd|sh|st|ll|ck".split("|")
# What shapes are composed of: a symbol in angle brackets becomes one of its phrases.
PHRASES = {
    "sentence": """<subject> <verb> <things> .|<subject> <verb> <things> .|<subject> <verb> <things> .|<opening> , <subject> <verb> <things> .|
        <things> : <subject> .|<thing> and <thing> mark <subject> .|<thing> <links> <thing> .|<subject> <verb> <things> , and <subject> <verb> <things> .|
        <things> are found in <subject> .|What buyers <like> is <thing> .|<people> <like> <things> .|Both <thing> and <thing> are <done> by hand .|
        Every season <subject> <verb> <things> .|<people> <like> <subject> for <thing> .|A good piece has <things> , <done> in {M} .|
        <thing> is <done> by <people> .|Some say that <subject> <verb> <thing> .|<subject> last many seasons .|This is how <thing> is <done> in {C} .|<subject> , with <things> , <verb> <things> .|Why <subject> ? <things> .|<thing> is what {C} is known for .""",
    "subject": """{C} {K}|{C} {K}|{C} {K}|{K} from {C}|{K} of {C}|the {K} of {C}|these {K}|our {K}|such {K}|weavers of {C}|makers in {C}|{C}|
        {M} {K} from {C}|{C} {K} in {M}|{K} in {M}|{K}|{C} and {C}|{K} of {C} and {C}""",
    "verb": """have|show|carry|combine|feature|bear|offer|use|join|mix|come with|are made with|are woven with|are loved for|are famous for|
        are prized for|are known for|stand out for|begin with|need|wear|add|bring together|differ by|is home to|still makes|are sold with|
        always have|may come with|must have|will show|often carry|never lack|suit those who like|sell best with|take weeks for|live by|
        let you see|run to|keep|owe much to|tell of|make one think of|give|hold|are worked with|each have|both use|stay true to""",
    "things": "<thing>|<thing> and <thing>|<thing> , <thing> and <thing>|<thing> , <thing> , and <thing>|<thing> , <thing> , <thing> , and <thing>",
    "thing": """{F} {Ps}|{F} {Ps}|{F} {Ps}|{M} {Ps}|{M} {Ps}|a {F} {P}|a {M} {P}|{M} {P}|{F} {P}|the {P}|{Ps}|{D} motifs|{D} motifs|{D} and {D} motifs|{Ds}|
        {T}|{T} {W}|{T} {W}|{M}|{M} and {M}|{T} and {T}|the {F} {P}|{T} on the {P}|{Ds} on the {P}|{Ps} of {M}|{F} {M} {Ps}|{T} in {M}|a {P} with {Ds}|rows of {Ds}|{M} for the {P}""",
    "people": "Buyers|Brides|Dealers|Guests|People|The weavers|Our customers|Both brides and guests|Families|Experts|Museums|Visitors to {C}",
    "like": "like|expect|want|look for|know|praise|say yes to|ask for|cannot do without|will find|pay for|remember",
    "done": "done|made|worked|woven|finished|sewn|set apart|added|painted|cut|drawn|carved|washed|sold|known",
    "links": "on|with|beside|meets|gives|replaces|above|goes with|under",
    "opening": "In {C}|For weddings|All year|When you look closely|They say|People know that|Ask anyone|As always|If you want to buy|Here|Each season|With {F} {Ps}|Made of {M}|By {T}|Today|Woven in {M}|From {P} to {P}|Without {T}",
}
KINDS = {"C": "CLUSTER", "T": "TECHNIQUE", "M": "MATERIAL", "P": "PART", "F": "FEATURE", "D": "MOTIF"}


def plural(name):
    if name.endswith(("s", "sh", "ch", "x")):
        return name + "es"
    if name.endswith("y") and name[-2] not in "aeiou":
        return name[:-1] + "ies"
    return name + "s"


class Grammar:
    """Draws sentences from shapes and names. With `varied`, half of the names are invented, most shapes composed and some spliced."""

    def __init__(self, generator, names, shapes, varied=False):
        self.generator, self.names, self.shapes = generator, names, shapes
        self.invented, self.composed, self.spliced, self.exchanged = (0.5, 0.8, 0.3, 0.15) if varied else (0, 0, 0, 0)
        phrases = re.sub("<.*?>", " ", " ".join(PHRASES.values()).replace("|", " "))
        self.others = sorted({word for word in (phrases + " " + " ".join(shapes)).split() if word.isalpha()})

    def word(self):
        choice = self.generator.choice
        syllables = self.generator.choice((1, 2, 2, 3))
        return "".join(choice(BEGINNINGS) + choice(MIDDLES) + (choice(ENDS) if i + 1 < syllables else choice(ENDS[2:])) for i in range(syllables))

    def name(self, kind):
        if self.generator.random() >= self.invented:
            return self.generator.choice(self.names[kind])
        name = self.generator.choice(INVENTED[kind].split("|"))
        while "{x}" in name:
            name = name.replace("{x}", self.word(), 1)
        name = name.replace("{X}", self.word().capitalize())
        return self.name(kind) if name in ALL_NAMES else name  # it may be held out

    def slot(self, slot):
        """Words of one slot, and the type of entity that they are, if any."""
        if slot == "K":
            return [self.generator.choice(CLOTH)], None
        if slot == "W":
            return [self.generator.choice(WORK)], None
        name = self.name(KINDS[slot[0]])
        return (plural(name) if slot.endswith("s") else name).split(), KINDS[slot[0]]

    def shape(self):
        if self.generator.random() >= self.spliced:
            return self.whole_shape()
        first, second = self.whole_shape().split(), self.whole_shape().split()
        shape = " ".join(first[: self.generator.randrange(len(first))] + second[self.generator.randrange(len(second)) :])
        return self.shape() if shape in HELD_OUT else shape

    def whole_shape(self):
        if self.generator.random() >= self.composed:
            return self.generator.choice(self.shapes)
        shape = "<sentence>"
        while "<" in shape:
            before, symbol, after = re.split("<(.*?)>", shape, maxsplit=1)
            shape = before + self.generator.choice(PHRASES[symbol].split("|")).strip() + after
        return self.whole_shape() if shape in HELD_OUT else shape

    def other(self, word):
        """A word of no entity. Some are exchanged for another; some are invented, so that an unknown word need not be a name."""
        if not word.isalpha() or self.generator.random() >= self.exchanged:
            return word
        return self.generator.choice(self.others) if self.generator.random() < 2 / 3 else self.word()

    def sentence(self):
        """[(word, label)]"""
        pairs = []
        for part in self.shape().split():
            words, kind = self.slot(part.strip("{}")) if part.startswith("{") else ([self.other(part)], None)
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
    parser.add_argument("--sentences", type=int, default=40000, help="of training; validation and test have 1,000 each")
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
    held_out = Grammar(generator, all_names, HELD_OUT)
    training = Grammar(generator, known, SHAPES, varied=True)
    write(options.directory / "valid.conll", held_out, 1000)
    write(options.directory / "test.conll", held_out, 1000)
    write(options.directory / "train.conll", training, options.sentences)


if __name__ == "__main__":
    main()
