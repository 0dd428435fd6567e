"""attend clean against a plain version of its rules, its files, and the scores of two models."""

import collections
import gzip
import itertools
import json
import math
import pathlib
import random
import re
import unicodedata

import pytest
import random_models
from programs import attend, refused

MODEL = pathlib.Path(__file__).resolve().parents[1] / "data/golden_v1"
LEARNED = MODEL.with_name("golden_v1_variant")


def words(line):
    """White space divides; a Han or Kana character is a word, four Thai letters are one."""
    count = syllables = 0
    for run in line.split():
        names = [unicodedata.name(c, "") for c in run]
        whole = sum(name.startswith(("CJK UNIFIED", "HIRAGANA LETTER", "KATAKANA LETTER")) for name in names)
        thai = sum(name.startswith("THAI CHARACTER") and unicodedata.category(c)[0] in "LM" for c, name in zip(run, names))
        count += whole if whole or thai else 1
        syllables += thai
    return count + -(-syllables // 4)


def bare(line):
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", line).casefold())
    return "".join(c for c in folded if unicodedata.category(c) in ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd") or unicodedata.category(c)[0] == "M") or line


def numbers(line):
    joined = re.sub(r"(?<=\d)[.,:'\u00a0\u2009\u2019\u202f\u066b](?=\d)", "", line)
    return sorted("".join(str(unicodedata.digit(c)) for c in run) for run in re.findall(r"\d+", joined))


def letters(line):
    return [c for c in line if unicodedata.category(c)[0] in "LM"]


def fault(pair, script):
    """By the rules with their defaults, numbers on; `script`: how the names of the source's letters begin."""
    counts = [words(line) for line in pair]
    if min(counts) == 0:
        return "empty"
    if any(c == "\ufffd" or (unicodedata.category(c) == "Cc" and c != "\t") for line in pair for c in line):
        return "malformed"
    if max(counts) > 200:
        return "too_long"
    if any(len(word) > 100 for line in pair for word in line.split()):
        return "long_word"
    if max(counts) > 4 * min(counts):
        return "ratio"
    if any(len(letters(line)) < 0.5 * sum(not c.isspace() for c in line) for line in pair):
        return "letters"
    found = letters(pair[0])
    if sum(unicodedata.name(c).startswith((script, "COMBINING")) for c in found) < 0.8 * len(found):
        return "script"
    if numbers(pair[0]) != numbers(pair[1]):
        return "numbers"
    return "copy" if bare(pair[0]) == bare(pair[1]) else None


def judge(pairs, script="LATIN", by=lambda pair: [tuple(map(bare, pair))]):
    """The reason for each pair, None where it is kept."""
    seen, reasons = set(), []
    for pair in pairs:
        reason = fault(pair, script)
        if reason is None:
            keys = set(by(pair))
            reason = "duplicate" if keys & seen else None
            seen |= keys if reason is None else set()
        reasons.append(reason)
    return reasons


def random_lines(seed, count):
    source = random.Random(seed)
    known = "the dog Dog runs, Äpfel straße STRASSE 12 1,000 1.000 3:15 ٣ мир «Привет» é e\u0301 ﬁne fine ... --- 私は学生 カメラ ภาษาไทย \ufffd \x07 x1 می\u200cرود क\u200dष co\u00adop \ufeffmir".split() + ["a\u0085b"]
    return [" ".join(source.choices(known, k=source.choice([0, 1, 1, 2, 2, 3, 4, 9]))) for _ in range(count)]


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
    return path


def dropped(path):
    return {int(number): reason for number, reason, *_ in (line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[:-1])}


HAND_MADE = [
    ("A dog runs.", "Ein Hund rennt."), ("a dog  runs", "EIN HUND RENNT!"), ("", "nichts"), ("word " * 201, "Wort " * 201),
    ("one", "eins zwei drei vier fünf"), ("x" * 101, "kurz"), ("Room 1,000 is open", "Raum 1.000 ist offen"), ("3 dogs", "4 Hunde"), ("Same text", "same TEXT."),
    ("+++ --- 12 ***", "noch etwas"), ("Привет, мой мир", "Hallo, meine Welt"), ("bad \ufffd byte", "ein Byte"), ("café", "Kaffee"), ("cafe\u0301", "Kaffee"),
]
REASONS = [None, "duplicate", "empty", "too_long", "ratio", "long_word", None, "numbers", "copy", "letters", "script", "malformed", None, "duplicate"]


def clean(folder, pairs, *options):
    names = [write(folder / f"raw.{side}", lines) for side, lines in zip("ab", zip(*pairs))]
    done = attend("clean", "--source", names[0], "--target", names[1], "--output", folder / "clean.a", folder / "clean.b",
                  "--dropped", folder / "dropped", "--report", folder / "report.json", "--detect-language=false", *options)
    assert done.returncode == 0, done.stderr
    kept = list(zip(*((folder / f"clean.{side}").read_text(encoding="utf-8").split("\n")[:-1] for side in "ab"), strict=True))
    return kept, dropped(folder / "dropped"), json.loads((folder / "report.json").read_text(encoding="utf-8"))


def test_hand_made_pairs_are_dropped_for_their_reasons(tmp_path):
    kept, reasons, report = clean(tmp_path, HAND_MADE, "--source-language", "en", "--numbers")
    assert [reasons.get(line) for line in range(1, len(HAND_MADE) + 1)] == REASONS == judge(HAND_MADE)
    assert kept == [pair for pair, reason in zip(HAND_MADE, REASONS) if reason is None]
    counts = collections.Counter(reason for reason in REASONS if reason)
    assert {name: entry["count"] for name, entry in report["dropped"].items()} == counts
    assert (report["lines"], report["kept"]) == (len(HAND_MADE), len(kept))
    assert report["dropped"]["numbers"]["examples"] == [{"line": 8, "text": ["3 dogs", "4 Hunde"]}]


@pytest.mark.parametrize("by, keys", [
    ("pair", lambda pair: [tuple(map(bare, pair))]),
    ("source", lambda pair: [bare(pair[0])]),
    ("either", lambda pair: [(side, bare(line)) for side, line in enumerate(pair)]),
    ("none", lambda pair: []),
])
def test_random_pairs_meet_the_plain_version(by, keys, tmp_path):
    pairs = list(zip(random_lines(1, 3000), random_lines(2, 3000)))
    pairs += list(itertools.islice(zip(random_lines(1, 3000), random_lines(2, 3000)), 0, 3000, 7))
    expected = judge(pairs, by=keys)
    assert len(set(expected)) == (8 if by == "none" else 9)  # all that such lines can have
    outputs = []
    for threads in (1, 3):
        kept, reasons, _ = clean(tmp_path, pairs, "--source-language", "en", "--numbers", "--duplicates", by, "--threads", threads)
        assert [reasons.get(line + 1) for line in range(len(pairs))] == expected
        outputs.append(kept)
    assert outputs[0] == outputs[1] == [pair for pair, reason in zip(pairs, expected) if reason is None]


def test_tables_and_packed_files_give_the_same_as_two_files(tmp_path):
    kept, reasons, _ = clean(tmp_path, HAND_MADE)
    (tmp_path / "raw.tsv.gz").write_bytes(gzip.compress(("".join(f"{a}\t{b}\tmore\n" for a, b in HAND_MADE) + "no tab\n").encode()))
    done = attend("clean", "--pairs", tmp_path / "raw.tsv.gz", "--output", tmp_path / "clean.tsv.gz", "--dropped", tmp_path / "other", "--report", tmp_path / "report.md", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert gzip.decompress((tmp_path / "clean.tsv.gz").read_bytes()).decode() == "".join(f"{a}\t{b}\tmore\n" for a, b in kept)
    assert dropped(tmp_path / "other") == reasons | {len(HAND_MADE) + 1: "malformed"}
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| too long | 1 | 6.67 % |" in page and "| copy | 9 | Same text | same TEXT. |" in page


def test_text_of_one_language(tmp_path):
    lines = ["Ein Hund.", "ein hund", "", "Ein Haus.", "Привет"]
    write(tmp_path / "raw", lines)
    done = attend("clean", "--source", "-", "--source-language", "de", "--output", tmp_path / "clean", "--json", "--quiet", stdin="".join(line + "\n" for line in lines))
    assert done.returncode == 0, done.stderr
    assert {name: entry["count"] for name, entry in json.loads(done.stdout)["dropped"].items()} == {"empty": 1, "duplicate": 1, "script": 1}
    assert (tmp_path / "clean").read_text(encoding="utf-8") == "Ein Hund.\nEin Haus.\n"


def test_lines_in_another_language_are_dropped(tmp_path):
    english = "The old man walked slowly through the garden and looked at the flowers."
    german = "Der alte Mann ging langsam durch den Garten und betrachtete die Blumen."
    write(tmp_path / "raw.en", [english, german, "Yes."])
    write(tmp_path / "raw.de", [german, german.replace("Garten", "Park"), "Ja."])
    done = attend("clean", "--source", tmp_path / "raw.en", "--target", tmp_path / "raw.de", "--source-language", "en", "--target-language", "de-DE",
                  "--detect-language", "--output", tmp_path / "en", tmp_path / "de", "--json", "--quiet")
    if "without a language detector" in done.stderr:
        pytest.skip("built without CLD2 (libcld2-dev)")
    report = json.loads(done.stdout)
    assert (report["kept"], report["dropped"]["language"]["count"]) == (2, 1)


@pytest.mark.parametrize("codes, line, warns", [
    (("nb", "nn-NO", "no"), "Den gamle mannen gikk sakte gjennom hagen og så på blomstene som vokste der.", False),
    (("fil", "tl"), "Ang matandang lalaki ay dahan-dahang naglakad sa hardin at tumingin sa mga bulaklak.", False),
    (("iw", "he"), "האיש הזקן הלך לאט בגן והסתכל על הפרחים היפים שגדלו שם", False),
    (("ast", "sco", "nds"), "The old man walked slowly through the garden and looked at the flowers.", True),
])
def test_codes_that_the_detector_lacks_drop_nothing(codes, line, warns, tmp_path):
    for code in codes:
        done = attend("clean", "--source", write(tmp_path / "raw", [line]), "--source-language", code, "--output", tmp_path / "clean", "--json")
        if "without a language detector" in done.stderr:
            pytest.skip("built without CLD2 (libcld2-dev)")
        assert json.loads(done.stdout)["kept"] == 1, (code, done.stdout)
        assert done.stderr.count(f"CLD2 can't tell the language {code}") == warns, done.stderr
    other = attend("clean", "--source", write(tmp_path / "raw", ["Der alte Mann ging langsam durch den Garten."]), "--source-language", "nb", "--output", tmp_path / "clean", "--json", "--quiet")
    assert json.loads(other.stdout)["dropped"]["language"]["count"] == 1


def cross_entropy(pair):
    """Of a token, by the model kept under tests/data, which `attend score` tells."""
    done = attend("score", "--model", MODEL, "--source", pair[0], "--target", pair[1], "--json", "--quiet")
    report = json.loads(done.stdout)
    return -report["pairs"][0]["log_probability"] / report["pieces"]


def test_scores_of_two_models_choose_the_best(tmp_path):
    pairs = [("lumi tavo", "keri paku neri"), ("dosa", "ilvo"), ("sane", "lumi keri tavo"), ("paku dosa", "neri"), ("tavo", "sane")]
    scores = []
    for pair in pairs:
        names = [write(tmp_path / f"one.{i}", [line]) for i, line in enumerate(pair)]
        there, back = cross_entropy(names), cross_entropy(names[::-1])
        scores.append(math.exp(-(abs(there - back) + (there + back) / 2)))
    models = ("--model", MODEL, "--reverse-model", random_models.reverse_of(MODEL, tmp_path / "back"))
    order = sorted(range(len(pairs)), key=lambda i: -scores[i])
    for share, count in ((0.41, 2), (0.6, 3), (0.99, 4)):
        kept, reasons, _ = clean(tmp_path, pairs, *models, "--keep-best", share)
        assert kept == [pairs[i] for i in sorted(order[:count])]
        assert set(reasons.values()) == {"share"}
    middle = (scores[order[1]] + scores[order[2]]) / 2
    kept, reasons, _ = clean(tmp_path, pairs, *models, "--min-score", f"{middle:.17f}")
    assert kept == [pairs[i] for i in sorted(order[:2])] and set(reasons.values()) == {"score"}
    # A line that a score dropped makes no later one a duplicate.
    worst = pairs[order[-1]]
    kept, reasons, _ = clean(tmp_path, [worst, pairs[order[0]], worst, pairs[order[0]]], *models, "--min-score", f"{middle:.17f}")
    assert kept == [pairs[order[0]]] and reasons == {1: "score", 3: "score", 4: "duplicate"}


def test_a_share_keeps_the_whole_number_that_is_meant(tmp_path):
    """0.29 * 100 is a little less than 29, of which 28 were kept."""
    words = "lumi tavo keri paku neri dosa ilvo sane olin mipa".split()
    pairs = [(f"{one} {other}", one) for one in words for other in words]
    models = ("--model", MODEL, "--reverse-model", random_models.reverse_of(MODEL, tmp_path / "back"))
    for share, count in ((0.29, 29), (0.295, 29), (0.57, 57)):
        kept, _, _ = clean(tmp_path, pairs, *models, "--keep-best", share)
        assert len(kept) == count


def test_a_pair_beyond_learned_positions_is_dropped_alone(tmp_path):
    most = json.loads((LEARNED / "config.json").read_text(encoding="utf-8"))["model"]["encoder"]["max_positions"]
    pairs = [("lumi tavo", "keri paku"), ("lumi " * most, "keri paku " * most), ("dosa", "ilvo")]
    kept, reasons, _ = clean(tmp_path, pairs, "--model", LEARNED, "--reverse-model", random_models.reverse_of(LEARNED, tmp_path / "back"), "--min-score", 1e-100, "--max-length", 0)
    assert kept == [pairs[0], pairs[2]] and reasons == {2: "too_long"}


def test_bad_input_leaves_old_output_as_it_was(tmp_path):
    a, b = write(tmp_path / "a", ["one two"] * 3), write(tmp_path / "b", ["eins zwei"] * 2)
    out = [write(tmp_path / name, ["old"]) for name in ("out.a", "out.b")]
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"a line\n" * 10000)[:-20])
    many = write(tmp_path / "many", (f"a very long line {i}" for i in range(100000)))
    both = ("--output", *out)
    for arguments, status, message in [
        (("--source", a, "--target", b, *both), 3, "different numbers of lines"),
        (("--source", cut, "--output", out[0]), 3, cut),
        (("--source", a, "--target", b, "--output", out[0], out[0]), 2, f"'{out[0]}' is written already"),
        (("--source", a, "--target", b, *both, "--dropped", tmp_path / "." / "out.b"), 2, "out.b' is written already"),
        (("--source", a, "--output", out[0], "--report", out[0]), 2, "is written already"),
        (("--source", out[0], "--output", out[0]), 2, "is read already"),
        (("--source", a, "--output", *out), 2, "--output names 2 files, expected 1"),
        (("--source", a, "--pairs", b, *both), 2, "either --source"),
        (("--pairs", a, "--target", b, *both), 2, "--target goes with --source"),
        (("--source", a, "--target", a, *both, "--keep-best", 0.5), 2, "--reverse-model"),
        (("--source", a, "--target", a, *both, "--model", MODEL), 2, "one is missing"),
        (("--source", a, "--source-language", "xx-Zzzq", "--output", out[0]), 2, "source_language is 'xx-Zzzq'"),
        (("--source", many, "--output", out[0], "--duplicate-memory", 1), 1, "duplicate_memory is 1"),
        (("--source", a, "--target", a, *both, "--model", MODEL, "--reverse-model", MODEL, "--min-score", 0.5), 2, "expected one that translates from su to ka"),
        (("--source", "-", "--target", a, *both, "--model", MODEL, "--reverse-model", MODEL, "--keep-best", 0.5), 2, "standard input"),
    ]:
        refused(attend("clean", *arguments), status, message)
        assert [path.read_text(encoding="utf-8") for path in out] == ["old\n"] * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "cut.gz", "many", "out.a", "out.b"]
