#!/usr/bin/env python3
"""Writes the demo's parallel corpus: a sublanguage of English and German made by a small grammar of our own.

English stays in subject-verb-object order; German puts the finite verb second (so a time in front moves the
subject behind it), the other verbs last, every verb of a subordinate clause last, the receiver before the
thing given, and parts some prefixes from their verbs. Articles, adjectives, nouns and relative pronouns agree in
gender, number and case; the case depends on verb and preposition. Numbers are digits or words: twenty-one is
einundzwanzig. Each English sentence has exactly one translation.

Held out of training on purpose:
  pairings  one in eight pairs (adjective, noun) and (verb, object noun), chosen by a hash of the pair. No training
            or validation sentence has one; every sentence of test_pairs has at least one.
  lengths   English sentences of more words than MAX_TRAIN_WORDS. Those of test_lengths have one or two words more, and
            no held-out pairing. The grammar makes more short sentences than long ones; some short ones are passed
            over, so that training has enough of each length.

Files in the output folder: {train,valid,test_pairs,test_lengths}.{src,tgt}; dictionary.tsv, one German word for each
English word; {test_pairs,test_lengths}.word_for_word, what that dictionary makes of the sources. The same seed
gives the same bytes on every machine and Python version.
"""

import argparse
import pathlib

import demo_lexicon as lexicon

MAX_TRAIN_WORDS = 13
TEST_WORDS = (14, 15)
KEPT_PERCENT = {9: 70, 10: 85, 11: 100, 12: 100, 13: 100}  # by number of words
KEPT_PERCENT_SHORTER = 40
HELD_OUT_ONE_IN = 8
MASK = (1 << 64) - 1


def mix(number):
    """SplitMix64's finaliser."""
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & MASK
    return number ^ (number >> 31)


class Random:
    """SplitMix64: our own, so that no Python version changes the corpus."""

    def __init__(self, seed):
        self.state = mix(seed & MASK)

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return mix(self.state) % bound

    def pick(self, items):
        return items[self.below(len(items))]

    def chance(self, percent):
        return self.below(100) < percent


def held_out(kind, first, second):
    number = 0
    for character in f"{kind} {first} {second}":
        number = mix(number * 131 + ord(character))
    return number % HELD_OUT_ONE_IN == 0


# --- Words --------------------------------------------------------------------------------------------------------

def nouns(table, person):
    return [lexicon.Noun(fields, person) for fields in lexicon.rows(table)]


PERSONS = nouns(lexicon.PERSONS, True)
ANIMALS = nouns(lexicon.ANIMALS, False)
THINGS = nouns(lexicon.THINGS, False)
PLACES = nouns(lexicon.PLACES, False)
ADJECTIVES = lexicon.rows(lexicon.ADJECTIVES)
TRANSITIVE = [lexicon.Verb(fields) for fields in lexicon.rows(lexicon.TRANSITIVE)]
DITRANSITIVE = [lexicon.Verb(fields) for fields in lexicon.rows(lexicon.DITRANSITIVE)]
INTRANSITIVE = [lexicon.Verb(fields) for fields in lexicon.rows(lexicon.INTRANSITIVE)]
SPEECH = [lexicon.Verb(fields) for fields in lexicon.rows(lexicon.SPEECH)]
MODALS = lexicon.rows(lexicon.MODALS)
CONJUNCTIONS = lexicon.rows(lexicon.CONJUNCTIONS)
ADVERBS = lexicon.rows(lexicon.ADVERBS)
TIMES = lexicon.rows(lexicon.TIMES)
PLACE_PREPOSITIONS = lexicon.rows(lexicon.PLACE_PREPOSITIONS)
OTHER_PREPOSITIONS = lexicon.rows(lexicon.OTHER_PREPOSITIONS)
DETERMINERS = lexicon.rows(lexicon.DETERMINERS)
PRONOUNS = lexicon.rows(lexicon.PRONOUNS)

# Endings by case, for masculine, feminine, neuter, plural.
KINDS = "mfnp"
ARTICLE = {"nom": "der die das die", "acc": "den die das die", "dat": "dem der dem den"}
DIES = {"nom": "er e es e", "acc": "en e es e", "dat": "em er em en"}
EIN = {"nom": "- e - e", "acc": "en e - e", "dat": "em er em en"}
ADJECTIVE = {
    "weak": {"nom": "e e e en", "acc": "en e e en", "dat": "en en en en"},
    "mixed": {"nom": "er e es en", "acc": "en e es en", "dat": "en en en en"},
    "strong": {"nom": "- - - e", "acc": "- - - e", "dat": "- - - en"},
}
BE = {"1s": ("am", "bin"), "3s": ("is", "ist"), "p": ("are", "sind")}
HAVE = {"1s": ("have", "habe"), "3s": ("has", "hat"), "p": ("have", "haben")}


def ending(table, case, kind):
    return table[case].split()[KINDS.index(kind)].replace("-", "")


# --- Phrases: each has its English words and its German words, by case. ------------------------------------------

class NounPhrase:
    """Determiner or number, perhaps an adjective, a noun, perhaps a relative clause."""

    def __init__(self, random, noun, adjective_percent=45):
        self.noun = noun
        self.number = 2 + random.below(98) if random.chance(18) else 0
        self.digits = random.chance(40)
        self.plural = bool(self.number) or random.chance(35)
        fitting = [d for d in DETERMINERS if ("p" if self.plural else "s") in d[3]]
        the = DETERMINERS[0]
        self.determiner = the if random.chance(40) else random.pick(fitting)
        self.adjective = random.pick(ADJECTIVES) if random.chance(adjective_percent) else None
        self.relative = None
        self.person = "p" if self.plural else "3s"
        self.pronoun = False
        self.kind = "p" if self.plural else noun.gender

    def pairs(self):
        found = [("adjective", self.adjective[0], self.noun.singular)] if self.adjective else []
        return found + (self.relative.pairs() if self.relative else [])

    def english(self, _case):
        words = []
        noun = self.noun.plural if self.plural else self.noun.singular
        after = self.adjective[0] if self.adjective else noun
        if self.number:
            words.append(str(self.number) if self.digits else lexicon.english_number(self.number))
        else:
            article = self.determiner[0]
            words.append("an" if article == "a" and after[0] in "aeiou" else article)
        words += [self.adjective[0]] if self.adjective else []
        words.append(noun)
        if self.relative:
            words += ["who" if self.noun.person else "that"] + self.relative.english_predicate()
        return words

    def german(self, case):
        words = []
        declension = "strong" if self.number else self.determiner[2]
        if self.number:
            words.append(lexicon.german_number(self.number))
        elif self.determiner[1] == "d":
            words.append(ending(ARTICLE, case, self.kind))
        else:
            table = EIN if declension == "mixed" else DIES
            words.append(self.determiner[1] + ending(table, case, self.kind))
        if self.adjective:
            words.append(self.adjective[2] + ending(ADJECTIVE[declension], case, self.kind))
        words.append(self.noun.german(self.plural, case))
        if self.relative:
            pronoun = ending(ARTICLE, "nom", self.kind)
            words += [",", pronoun] + self.relative.german_verb_last(with_subject=False) + [","]
        return words


class Pronoun:
    def __init__(self, random):
        self.subject, self.object, self.nom, self.acc, self.dat, self.person = random.pick(PRONOUNS)
        self.pronoun = True

    def pairs(self):
        return []

    def english(self, case):
        return [self.subject if case == "nom" else self.object]

    def german(self, case):
        return [getattr(self, case)]


class PrepositionPhrase:
    def __init__(self, preposition, case, phrase):
        self.preposition, self.case, self.phrase = preposition, case, phrase

    def english(self):
        return self.preposition[0].split() + self.phrase.english(self.case)

    def german(self):
        words = [self.preposition[1]] + self.phrase.german(self.case)
        return ["im"] + words[2:] if words[:2] == ["in", "dem"] else words


class Clause:
    """A subject and what it does, has done or can do."""

    def __init__(self, random, subject=None, simple=False):
        self.subject = subject or subject_phrase(random)
        self.object = self.receiver = self.place = self.adjective = None
        self.adverb = random.pick(ADVERBS) if not simple and random.chance(15) else None
        self.form = random.pick(["present", "present", "present", "perfect", "modal"])
        self.modal = random.pick(MODALS)
        kind = random.below(10)
        if kind < 1 and isinstance(self.subject, NounPhrase) and not simple:
            self.verb, self.form, self.adverb = None, "be", None
            self.adjective = random.pick(ADJECTIVES)
        elif kind < 3:
            self.verb = random.pick(INTRANSITIVE)
            self.place = place_phrase(random) if random.chance(70) else None
        elif kind < 4 and not simple:
            self.verb = random.pick(DITRANSITIVE)
            self.object = NounPhrase(random, random.pick(THINGS))
            self.receiver = Pronoun(random) if random.chance(25) else NounPhrase(random, random.pick(PERSONS), 25)
        else:
            self.verb = random.pick(TRANSITIVE)
            self.object = object_phrase(random, self.verb)
            if not simple and random.chance(30):
                self.place = place_phrase(random) if random.chance(60) else other_phrase(random)
        self.drop_repeated_pronoun(random)

    def drop_repeated_pronoun(self, random):
        """"I see me" would need a reflexive."""
        for name in ("object", "receiver"):
            if getattr(getattr(self, name), "pronoun", False) and self.subject.pronoun:
                setattr(self, name, NounPhrase(random, random.pick(PERSONS)))

    def pairs(self):
        found = self.subject.pairs()
        for phrase in (self.object, self.receiver, self.place and self.place.phrase):
            found = found + (phrase.pairs() if phrase else [])
        if isinstance(self.object, NounPhrase):
            found = found + [("verb", self.verb.base, self.object.noun.singular)]
        if self.adjective:
            found = found + [("adjective", self.adjective[0], self.subject.noun.singular)]
        return found

    def english_rest(self):
        words = self.object.english("acc") if self.object else []
        words += ["to"] + self.receiver.english("dat") if self.receiver else []
        return words + (self.place.english() if self.place else [])

    def english_predicate(self):
        person = self.subject.person
        adverb = [self.adverb[0]] if self.adverb else []
        if self.form == "be":
            return [BE[person][0], self.adjective[0]]
        if self.form == "perfect":
            verbs = [HAVE[person][0]] + adverb + [self.verb.participle]
        elif self.form == "modal":
            verbs = [self.modal[0]] + adverb + [self.verb.base]
        else:
            verbs = adverb + [self.verb.english(person)]
        return verbs + self.english_rest()

    def english(self):
        return self.subject.english("nom") + self.english_predicate()

    def english_question(self):
        person = self.subject.person
        adverb = [self.adverb[0]] if self.adverb else []
        subject = self.subject.english("nom")
        if self.form == "be":
            return [BE[person][0]] + subject + [self.adjective[0]]
        if self.form == "perfect":
            return [HAVE[person][0]] + subject + adverb + [self.verb.participle] + self.english_rest()
        helper = self.modal[0] if self.form == "modal" else "does" if person == "3s" else "do"
        return [helper] + subject + adverb + [self.verb.base] + self.english_rest()

    def german_finite(self):
        person = self.subject.person
        if self.form == "be":
            return BE[person][1]
        if self.form == "perfect":
            return (HAVE if self.verb.auxiliary == "haben" else BE)[person][1]
        if self.form == "modal":
            return {"1s": self.modal[3], "3s": self.modal[4], "p": self.modal[2]}[person]
        return self.verb.german(person)

    def german_middle(self):
        """What stands between subject and last verb: pronouns, adverb, receiver, object, place."""
        phrases = []
        if self.receiver:
            phrases.append((self.receiver, "dat"))
        if self.object:
            phrases.append((self.object, self.verb.case))
        words = [w for phrase, case in phrases if phrase.pronoun for w in phrase.german(case)]
        words += [self.adverb[1]] if self.adverb else []
        words += [w for phrase, case in phrases if not phrase.pronoun for w in phrase.german(case)]
        return words + (self.place.german() if self.place else [])

    def german_last(self):
        """The part of the verb that closes a main clause."""
        if self.form == "be":
            return [self.adjective[1]]
        if self.form == "perfect":
            return [self.verb.partizip]
        if self.form == "modal":
            return [self.verb.infinitive]
        return [self.verb.prefix] if self.verb.prefix else []

    def german(self):
        return self.subject.german("nom") + [self.german_finite()] + self.german_middle() + self.german_last()

    def german_inverted(self):
        return [self.german_finite()] + self.subject.german("nom") + self.german_middle() + self.german_last()

    def german_verb_last(self, with_subject=True):
        words = (self.subject.german("nom") if with_subject else []) + self.german_middle()
        if self.form == "present":
            return words + [self.verb.prefix + self.german_finite()]
        return words + self.german_last() + [self.german_finite()]


def subject_phrase(random):
    if random.chance(22):
        return Pronoun(random)
    phrase = NounPhrase(random, random.pick(PERSONS if random.chance(75) else ANIMALS))
    if random.chance(14):
        phrase.relative = Clause(random, subject=phrase, simple=True)
        phrase.relative.subject = RelativeSubject(phrase.person)
    return phrase


class RelativeSubject:
    """Stands for the subject inside its own relative clause."""

    def __init__(self, person):
        self.person, self.pronoun = person, False

    def pairs(self):
        return []


def object_phrase(random, verb):
    if random.chance(15):
        return Pronoun(random)
    pool = PERSONS if verb.persons_only or random.chance(20) else THINGS if random.chance(75) else ANIMALS
    return NounPhrase(random, random.pick(pool))


def place_phrase(random):
    return PrepositionPhrase(random.pick(PLACE_PREPOSITIONS), "dat", NounPhrase(random, random.pick(PLACES), 25))


def other_phrase(random):
    preposition = random.pick(OTHER_PREPOSITIONS)
    return PrepositionPhrase(preposition, preposition[2], NounPhrase(random, random.pick(PERSONS), 25))


# --- Sentences ----------------------------------------------------------------------------------------------------

def sentence(random):
    """English words, German words, pairs."""
    first = Clause(random)
    kind = random.below(100)
    if kind < 40:
        return first.english() + ["."], first.german() + ["."], first.pairs()
    if kind < 55:
        time = random.pick(TIMES)
        return (time[0].split() + first.english() + ["."], time[1].split() + first.german_inverted() + ["."],
                first.pairs())
    if kind < 65:
        return first.english_question() + ["?"], first.german_inverted() + ["?"], first.pairs()
    second = Clause(random)
    pairs = first.pairs() + second.pairs()
    conjunction = random.pick(CONJUNCTIONS)
    if kind < 78:
        return (first.english() + [conjunction[0]] + second.english() + ["."],
                first.german() + [",", conjunction[1]] + second.german_verb_last() + ["."], pairs)
    if kind < 90:
        return ([conjunction[0]] + second.english() + [","] + first.english() + ["."],
                [conjunction[1]] + second.german_verb_last() + [","] + first.german_inverted() + ["."], pairs)
    speaker, verb = subject_phrase(random), random.pick(SPEECH)
    return (speaker.english("nom") + [verb.english(speaker.person), "that"] + second.english() + ["."],
            speaker.german("nom") + [verb.german(speaker.person), ",", "dass"] + second.german_verb_last() + ["."],
            speaker.pairs() + second.pairs())


def written(words):
    """Words as a line of text: punctuation close, one comma where two meet, a capital first."""
    line = ""
    for i, word in enumerate(words):
        closes = word in ".?,"
        if word == "," and (words[i + 1] in ".?," or line.endswith(",")):
            continue
        line += word if closes or not line else " " + word
    return line[0].upper() + line[1:]


def word_count(words):
    return sum(word not in ".?," for word in words)


# --- The word-for-word baseline -----------------------------------------------------------------------------------

def dictionary():
    """One German word for each English word, in the form a dictionary gives."""
    entries = {"an": "ein", "the": "die", "who": "der", "that": "dass", "to": "zu", "does": "tut", "do": "tun", "of": "von",
               "front": "vor", "next": "neben"}
    for table in (PERSONS, ANIMALS, THINGS, PLACES):
        for noun in table:
            entries[noun.singular], entries[noun.plural] = noun.de_singular, noun.de_plural
    for adjective in ADJECTIVES:
        entries[adjective[0]] = adjective[1]
    for verb in TRANSITIVE + DITRANSITIVE + INTRANSITIVE + SPEECH:
        entries.update({verb.participle: verb.partizip, verb.base: verb.infinitive, verb.third: verb.prefix + verb.er})
    for english, _, _, _, german in MODALS:
        entries[english] = german
    for table in (BE, HAVE):
        entries.update(dict(table.values()))
    for english, german, *_ in CONJUNCTIONS + ADVERBS + PLACE_PREPOSITIONS + OTHER_PREPOSITIONS:
        entries.setdefault(english, german)
    for english, stem, declension, _ in DETERMINERS[1:]:
        entries[english] = stem + ("e" if declension != "mixed" else "")
    for subject, other, nominative, accusative, _, _ in PRONOUNS:
        entries.update({subject: nominative, other: accusative})
    for time in TIMES:
        for english, german in zip(time[0].split()[-1:], time[1].split()[-1:]):
            entries.setdefault(english, german)
    entries.update({"at": "an", "on": "am", "every": "jede"})
    for number in range(2, 100):
        entries[lexicon.english_number(number)] = entries[str(number)] = lexicon.german_number(number)
    return {english: german for english, german in sorted(entries.items()) if " " not in english}


def word_for_word(words, entries):
    return written([entries.get(word, word) for word in words])


# --- Files --------------------------------------------------------------------------------------------------------

class Corpus:
    def __init__(self, seed):
        self.random = Random(seed)
        self.seen = set()

    def draw(self, count, accepts):
        """`count` new sentences that accepts(words, number of held-out pairings) takes."""
        drawn = []
        while len(drawn) < count:
            english, german, pairs = sentence(self.random)
            unseen_pairs = sum(held_out(*pair) for pair in pairs)
            source = written(english)
            if source in self.seen or not accepts(word_count(english), unseen_pairs):
                continue
            self.seen.add(source)
            drawn.append((source, written(german), english))
        return drawn


def write(folder, name, lines):
    (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=pathlib.Path, help="folder to write")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--train", type=int, default=25000, help="training pairs")
    parser.add_argument("--held-out", type=int, default=500, help="pairs of each other set")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    corpus = Corpus(options.seed)

    def known(words, unseen):
        kept = words <= MAX_TRAIN_WORDS and corpus.random.chance(KEPT_PERCENT.get(words, KEPT_PERCENT_SHORTER))
        return kept and unseen == 0

    sets = {
        "test_pairs": corpus.draw(options.held_out, lambda words, unseen: words <= MAX_TRAIN_WORDS and unseen > 0),
        "test_lengths": corpus.draw(options.held_out, lambda words, unseen: TEST_WORDS[0] <= words <= TEST_WORDS[1] and unseen == 0),
        "valid": corpus.draw(options.held_out, known),
        "train": corpus.draw(options.train, known),
    }
    entries = dictionary()
    for name, pairs in sets.items():
        write(options.output, name + ".src", [source for source, _, _ in pairs])
        write(options.output, name + ".tgt", [target for _, target, _ in pairs])
        if name.startswith("test"):
            write(options.output, name + ".word_for_word", [word_for_word(words, entries) for _, _, words in pairs])
    write(options.output, "dictionary.tsv", [f"{english}\t{german}" for english, german in entries.items()])


if __name__ == "__main__":
    main()
