"""The demo's grammar: right German, held-out pairings and lengths, the same bytes each time."""

import pathlib
import subprocess
import sys

import demo_corpus as demo
import demo_lexicon as lexicon
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETS = ("train", "valid", "test_pairs", "test_lengths")


def make(folder, *options):
    subprocess.run([sys.executable, str(ROOT / "tools/demo_corpus.py"), str(folder), "--train", "6000", "--held-out", "200", *options],
                   check=True)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    files = make(tmp_path_factory.mktemp("demo"))
    return {name: data.decode().split("\n")[:-1] for name, data in files.items()}


def words(line):
    return [word.strip(".,?") for word in line.split()]


def phrase(determiner, adjective, noun, plural=False, number=0):
    made = demo.NounPhrase(demo.Random(1), next(n for n in demo.PERSONS + demo.ANIMALS + demo.THINGS + demo.PLACES if n.singular == noun))
    made.determiner = next((d for d in demo.DETERMINERS if d[0] == determiner), None)
    made.adjective = next((a for a in demo.ADJECTIVES if a[0] == adjective), None)
    made.number, made.plural, made.digits = number, plural or number > 0, False
    made.kind = "p" if made.plural else made.noun.gender
    made.person = "p" if made.plural else "3s"
    return made


@pytest.mark.parametrize("parts, english, nominative, accusative, dative", [
    (("the", "old", "man"), "the old man", "der alte Mann", "den alten Mann", "dem alten Mann"),
    (("a", "old", "man"), "an old man", "ein alter Mann", "einen alten Mann", "einem alten Mann"),
    (("my", "young", "woman"), "my young woman", "meine junge Frau", "meine junge Frau", "meiner jungen Frau"),
    (("this", "small", "child"), "this small child", "dieses kleine Kind", "dieses kleine Kind", "diesem kleinen Kind"),
    (("no", "dark", "house"), "no dark house", "kein dunkles Haus", "kein dunkles Haus", "keinem dunklen Haus"),
    (("every", "clever", "boy"), "every clever boy", "jeder kluge Junge", "jeden klugen Jungen", "jedem klugen Jungen"),
    (("our", "big", "tree", True), "our big trees", "unsere großen Bäume", "unsere großen Bäume", "unseren großen Bäumen"),
    (("many", "tired", "child", True), "many tired children", "viele müde Kinder", "viele müde Kinder", "vielen müden Kindern"),
    (("all", None, "car", True), "all cars", "alle Autos", "alle Autos", "allen Autos"),
    (("no", "red", "woman", True), "no red women", "keine roten Frauen", "keine roten Frauen", "keinen roten Frauen"),
    ((None, "expensive", "ring", True, 21), "twenty-one expensive rings", "einundzwanzig teure Ringe", "einundzwanzig teure Ringe",
     "einundzwanzig teuren Ringen"),
])
def test_noun_phrases_agree_in_gender_number_and_case(parts, english, nominative, accusative, dative):
    made = phrase(*parts)
    assert " ".join(made.english("nom")) == english
    assert [" ".join(made.german(case)) for case in ("nom", "acc", "dat")] == [nominative, accusative, dative]


def clause(verb, form, subject, thing, person="3s"):
    made = demo.Clause(demo.Random(1), subject=subject, simple=True)
    made.verb = next(v for v in demo.TRANSITIVE if v.base == verb)
    made.form, made.object, made.receiver, made.place, made.adverb = form, thing, None, None, None
    made.modal = demo.MODALS[0]
    return made


@pytest.mark.parametrize("verb, form, english, main, inverted, verb_last", [
    ("see", "present", "the man sees the dog", "der Mann sieht den Hund", "sieht der Mann den Hund", "der Mann den Hund sieht"),
    ("invite", "present", "the man invites the dog", "der Mann lädt den Hund ein", "lädt der Mann den Hund ein", "der Mann den Hund einlädt"),
    ("help", "perfect", "the man has helped the dog", "der Mann hat dem Hund geholfen", "hat der Mann dem Hund geholfen",
     "der Mann dem Hund geholfen hat"),
    ("follow", "perfect", "the man has followed the dog", "der Mann ist dem Hund gefolgt", "ist der Mann dem Hund gefolgt",
     "der Mann dem Hund gefolgt ist"),
    ("call", "modal", "the man can call the dog", "der Mann kann den Hund anrufen", "kann der Mann den Hund anrufen",
     "der Mann den Hund anrufen kann"),
])
def test_verbs_stand_where_german_wants_them(verb, form, english, main, inverted, verb_last):
    made = clause(verb, form, phrase("the", None, "man"), phrase("the", None, "dog"))
    assert " ".join(made.english()) == english
    assert [" ".join(w) for w in (made.german(), made.german_inverted(), made.german_verb_last())] == [main, inverted, verb_last]


def test_numbers():
    known = {2: ("two", "zwei"), 16: ("sixteen", "sechzehn"), 17: ("seventeen", "siebzehn"), 20: ("twenty", "zwanzig"),
             21: ("twenty-one", "einundzwanzig"), 30: ("thirty", "dreißig"), 76: ("seventy-six", "sechsundsiebzig"),
             99: ("ninety-nine", "neunundneunzig")}
    for number, expected in known.items():
        assert (lexicon.english_number(number), lexicon.german_number(number)) == expected


def test_sizes_and_word_types(corpus):
    for name in SETS:
        assert len(corpus[name + ".src"]) == len(corpus[name + ".tgt"]) == (6000 if name == "train" else 200)
    for side in ("src", "tgt"):
        assert len({word.lower() for line in corpus["train." + side] for word in words(line)}) >= 300
    assert all("  " not in line and line == line.strip() and ",," not in line for name in SETS for line in corpus[name + ".tgt"])


def test_sets_share_no_sentence_and_words_are_known(corpus):
    sources = [line for name in SETS for line in corpus[name + ".src"]]
    assert len(set(sources)) == len(sources)
    known = {word.lower() for line in corpus["train.src"] for word in words(line)}
    strange = {word.lower() for name in SETS[1:] for line in corpus[name + ".src"] for word in words(line)} - known
    assert not strange


def test_lengths_are_held_out(corpus):
    for name in ("train", "valid", "test_pairs"):
        assert max(len(words(line)) for line in corpus[name + ".src"]) <= demo.MAX_TRAIN_WORDS
    assert {len(words(line)) for line in corpus["test_lengths.src"]} == {14, 15}


def adjective_noun_pairs(lines):
    adjectives = {a[0] for a in demo.ADJECTIVES}
    forms = {form: n.singular for n in demo.PERSONS + demo.ANIMALS + demo.THINGS + demo.PLACES for form in (n.singular, n.plural)}
    found = set()
    for line in lines:
        lower = [word.lower() for word in words(line)]
        found |= {(a, forms[n]) for a, n in zip(lower, lower[1:]) if a in adjectives and n in forms}
    return found


def test_pairings_are_held_out(corpus):
    trained = adjective_noun_pairs(corpus["train.src"]) | adjective_noun_pairs(corpus["valid.src"])
    tested = adjective_noun_pairs(corpus["test_pairs.src"])
    assert not {pair for pair in trained if demo.held_out("adjective", *pair)}
    unseen = {pair for pair in tested if demo.held_out("adjective", *pair)}
    assert len(unseen) > 50 and not unseen & trained
    assert len(trained) > 1500


def test_the_seed_decides(tmp_path):
    folders = [tmp_path / name for name in ("one", "two", "other")]
    for folder in folders:
        folder.mkdir()
    one, two, other = make(folders[0]), make(folders[1]), make(folders[2], "--seed", "2")
    assert one == two
    assert one["train.src"] != other["train.src"] and one["dictionary.tsv"] == other["dictionary.tsv"]


def test_word_for_word_is_far_below_the_grammar(corpus):
    sacrebleu = pytest.importorskip("sacrebleu")
    for name in ("test_pairs", "test_lengths"):
        score = sacrebleu.corpus_bleu(corpus[name + ".word_for_word"], [corpus[name + ".tgt"]]).score
        assert 1 < score < 50
