"""`attend evaluate` against the real sacrebleu: scores to many digits, printed lines, signatures and p-values."""

import json
import os
import pathlib
import random
import subprocess

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

ATTEND = pathlib.Path(os.environ["BUILD_DIR"]) / "attend"
TOKENIZERS = ["13a", "intl", "char", "zh", "none"]
WORDS = "the a old woman reads 3.5 1,000 x-y 5-6 big newspaper in garden , . ; (so) \"well\" it's &amp; &lt;b&gt; ...".split()

ODD = [
    "", " ", "\t", "a", ".", "...", "!?!", "-", "--", "5-", "1.", ".1", "1,2.3", "x.y,z", "'s it's dogs' 's",
    "no\u00a0break\u202fspace", "thin\u2009space\u3000wide", "a\u2028b\u0085c\u001cd", "zero\u200bwidth\u200djoin", "\ufeffbom",
    "😀👍🏽 ok😀", "👩‍👩‍👧‍👦 family", "日本語のテキスト。", "中文，测试！abc", "㈱ ㍿ ⅷ ① ½", "カタカナ ひらがな", "한국어 텍스트", "\U00020000\U0002a6d6",
    "e\u0301 A\u0308 o\u0302\u0323", "İI ıi ŞŠ", "ΑΘΗΝΑΣ ΣΑΣ Σ ΑΣ. ΑΣ\u00adΣ", "ẞ GROẞ STRASSE ß", "ǅ Ǆ ǆ",
    "&quot;x&quot; &amp;amp; &lt;skipped&gt; <skipped>y", "$5 £7 €9 +3 =4 <5> ^ ` | ~", "«quote» „low“ ‘single’ “double”",
    "¿Qué? ¡No!", "3·5 ٣٤٥ ४५ ²³", "a…b—c–d", "\u2001a \u2fa1 \u2a6d", "a\u0000b", "\\ / [ ] { } @ #", "tab\there  two  spaces ",
    "١٬٢٣٤٫٥", "٪ ‰ § ¶ © ®", "→ ∑ ∞ ≠", "🇩🇪 🇫🇷", "،؟ العربية", "हिन्दी।", "x" * 300, "\ufffd", "．，？：；！＂（）・。",
]  # fmt: skip


def write(path, lines):
    path.write_bytes("".join(line + "\n" for line in lines).encode())
    return path


def run(*arguments, status=0):
    done = subprocess.run([str(a) for a in [ATTEND, "evaluate", *arguments]], capture_output=True)
    assert done.returncode == status, done.stderr.decode()
    return done


def evaluate(folder, hypotheses, references, *options):
    """The JSON of attend evaluate, to 9 decimal places."""
    hypothesis = write(folder / "hypothesis", hypotheses)
    files = [write(folder / f"reference.{i}", lines) for i, lines in enumerate(references)]
    common = ["--hypothesis", hypothesis, "--reference", *files, "--width", 9, "--json"]
    return json.loads(run(*common, *options).stdout)


def stripped(lines):
    """As sacrebleu's own command reads them."""
    return [line.rstrip() for line in lines]


def same_score(answer, metric, hypotheses, references):
    hypotheses, references = stripped(hypotheses), [stripped(lines) for lines in references]
    expected = metric.corpus_score(hypotheses, references)
    assert answer["signature"] == str(metric.get_signature())
    assert f"{answer['score']:.2f}" == expected.format(score_only=True)
    assert answer["score"] == pytest.approx(expected.score, abs=2e-9)
    assert answer.get("details", "") == expected._verbose


def corrupt(lines, seed):
    """Translations of middling quality: dropped, swapped, moved, doubled and recased words."""
    generator = random.Random(seed)
    corrupted = []
    for line in lines:
        words = [w for w in line.split(" ") if generator.random() > 0.12]
        for _ in range(generator.randrange(4)):
            if len(words) < 4:
                break
            i, j = generator.randrange(len(words) - 2), generator.randrange(len(words) - 2)
            kind = generator.randrange(4)
            if kind == 0:
                words[i], words[i + 1] = words[i + 1], words[i]
            elif kind == 1:
                group = words[i : i + 3]
                del words[i : i + 3]
                words[j:j] = group
            elif kind == 2:
                words[i] = words[i].swapcase()
            else:
                words.insert(j, words[i])
        corrupted.append(" ".join(words))
    return corrupted


def data(name, count):
    folder = os.environ.get("ATTEND_DATA")
    if not folder:
        pytest.skip("ATTEND_DATA is not set; it names the folder of the corpora")
    return (pathlib.Path(folder) / name).read_text().split("\n")[:count]


def made_text(count, seed):
    generator = random.Random(seed)
    return [" ".join(generator.choices(WORDS, k=generator.randrange(25))) for _ in range(count)]


def odd_text(seed):
    """Odd lines, some of them glued together, as references and their corruptions."""
    generator = random.Random(seed)
    lines = ODD + [" ".join(generator.sample(ODD[3:-10], 4)) for _ in range(60)]
    return lines


BLEU_VARIANTS = [dict(tokenize=t, lowercase=l) for t in TOKENIZERS for l in (False, True)] + [
    dict(smooth_method=m, smooth_value=v, effective_order=e)
    for m, v in [("exp", None), ("floor", None), ("floor", 0.5), ("add-k", None), ("add-k", 2.25), ("none", None)]
    for e in (False, True)
]


def options_of(settings, prefix=""):
    options = []
    for name, value in settings.items():
        option = "--" + prefix + name.replace("_", "-")
        if value is True:
            options.append(option)
        elif value not in (None, False):
            options += [option, value]
    return options


@pytest.mark.parametrize("settings", BLEU_VARIANTS, ids=str)
def test_bleu(tmp_path, settings):
    for references in ([odd_text(1)], [odd_text(2), corrupt(odd_text(2), 3), odd_text(2)[::-1]], [made_text(50, 4)]):
        hypotheses = corrupt(references[0], 5)
        answer = evaluate(tmp_path, hypotheses, references, *options_of(settings))
        same_score(answer["bleu"], BLEU(**settings), hypotheses, references)


CHRF_VARIANTS = [
    dict(), dict(word_order=1), dict(word_order=2), dict(whitespace=True), dict(eps_smoothing=True), dict(char_order=3, beta=1),
    dict(word_order=2, eps_smoothing=True, whitespace=True, beta=3),
]  # fmt: skip


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("settings", CHRF_VARIANTS, ids=str)
def test_chrf(tmp_path, settings, lowercase):
    options = options_of(settings, "chrf.") + (["--lowercase"] if lowercase else [])
    for references in ([odd_text(1)], [odd_text(2), corrupt(odd_text(2), 3)], [made_text(50, 4)]):
        hypotheses = corrupt(references[0], 5)
        answer = evaluate(tmp_path, hypotheses, references, "--metrics", "chrf", *options)
        same_score(answer["chrf"], CHRF(lowercase=lowercase, **settings), hypotheses, references)


TER_VARIANTS = [
    dict(), dict(normalized=True), dict(no_punct=True), dict(case_sensitive=True), dict(normalized=True, asian_support=True),
    dict(no_punct=True, asian_support=True), dict(normalized=True, no_punct=True, asian_support=True, case_sensitive=True),
]  # fmt: skip


@pytest.mark.parametrize("settings", TER_VARIANTS, ids=str)
def test_ter(tmp_path, settings):
    for references in ([odd_text(1)], [odd_text(2), corrupt(odd_text(2), 3), odd_text(7)], [made_text(150, 4)]):
        hypotheses = corrupt(references[0], 5)
        answer = evaluate(tmp_path, hypotheses, references, "--metrics", "ter", *options_of(settings, "ter."))
        same_score(answer["ter"], TER(**settings), hypotheses, references)


def test_ter_of_very_different_lengths(tmp_path):
    generator = random.Random(8)
    lengths = [(1, 400), (400, 1), (3, 200), (200, 3), (0, 50), (50, 0), (80, 90), (140, 60), (7, 300), (90, 160)]
    letters = "a b c d e f g h i j k l".split()
    texts = [[" ".join(generator.choices(letters, k=pair[side])) for pair in lengths] for side in (0, 1)]
    same_score(evaluate(tmp_path, texts[0], [texts[1]], "--metrics", "ter")["ter"], TER(), texts[0], [texts[1]])


def test_very_long_lines(tmp_path):
    generator = random.Random(9)
    line = " ".join(generator.choice("abcdefgh") + str(generator.randrange(2000)) for _ in range(10000))
    hypotheses, references = corrupt([line, line[::-1]], 1), [[line, line]]
    answer = evaluate(tmp_path, hypotheses, references, "--metrics", "bleu,chrf++")
    same_score(answer["bleu"], BLEU(), hypotheses, references)
    same_score(answer["chrf++"], CHRF(word_order=2), hypotheses, references)
    assert 0 < evaluate(tmp_path, hypotheses, references, "--metrics", "ter")["ter"]["score"] < 200


@pytest.mark.parametrize(
    "name", ["multi30k/test_2016_flickr.de", "multi30k/val.fr", "newstest2014/newstest2014.en-de.de", "newstest2014/newstest2013.en"]
)
def test_real_text(tmp_path, name):
    references = [data(name, 400)]
    hypotheses = corrupt(references[0], 11)
    for tokenizer in TOKENIZERS:
        answer = evaluate(tmp_path, hypotheses, references, "--tokenize", tokenizer, "--metrics", "bleu")
        same_score(answer["bleu"], BLEU(tokenize=tokenizer), hypotheses, references)
    answer = evaluate(tmp_path, hypotheses, references, "--metrics", "chrf,chrf++,ter")
    same_score(answer["chrf"], CHRF(), hypotheses, references)
    same_score(answer["chrf++"], CHRF(word_order=2), hypotheses, references)
    same_score(answer["ter"], TER(), hypotheses, references)


def test_lower_case_and_classes_of_all_characters(tmp_path):
    """Each assigned character of Python's Unicode alone, between letters, digits and at both ends."""
    import unicodedata

    known = [chr(c) for c in range(1, 0x110000) if c != 10 and unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    references = [[" ".join(f"a{c}b {c}1 3{c}4 Σ{c}" for c in known[i : i + 100]) for i in range(0, len(known), 100)]]
    hypotheses = [line.replace("a", "x", 3) for line in references[0]]
    for settings in (dict(tokenize="intl", lowercase=True), dict(tokenize="zh"), dict(tokenize="13a", lowercase=True)):
        answer = evaluate(tmp_path, hypotheses, references, *options_of(settings))
        same_score(answer["bleu"], BLEU(**settings), hypotheses, references)


@pytest.mark.parametrize("seed", [1, 2])
def test_texts_with_fewer_references_than_others(tmp_path, seed):
    """An empty line is a reference without words, or none, as None is for sacrebleu."""
    generator = random.Random(seed)
    first = [line or "a" for line in made_text(60, 20 + seed)]
    more = [["" if generator.random() < 0.4 else line for line in corrupt(first, 30 + seed + i)] for i in range(2)]
    sets, hypotheses = [first, *more], corrupt(first, 40)
    missing = [[line.rstrip() or None for line in lines] for lines in sets]
    options = ["--metrics", "bleu,chrf,chrf++,ter"]
    for references, more in ((sets, []), (missing, ["--skip-empty-references"])):
        answer = evaluate(tmp_path, hypotheses, sets, *options, *more)
        for name, metric in {"bleu": BLEU(), "chrf": CHRF(), "chrf++": CHRF(word_order=2), "ter": TER()}.items():
            expected = metric.corpus_score(hypotheses, references)
            assert answer[name]["signature"] == str(metric.get_signature())
            assert ("nrefs:var" in answer[name]["signature"]) == bool(more)
            assert answer[name]["score"] == pytest.approx(expected.score, abs=2e-9)
    whole = evaluate(tmp_path, hypotheses, [first, first], "--skip-empty-references")["bleu"]
    assert whole["signature"].startswith("nrefs:2|")
    # As many references each, though not of the same files.
    swapped = [[a if i % 2 else "" for i, a in enumerate(first)], ["" if i % 2 else a for i, a in enumerate(first)]]
    assert evaluate(tmp_path, hypotheses, swapped, "--skip-empty-references")["bleu"]["signature"].startswith("nrefs:1|")
    write(tmp_path / "empty", ["a", ""])
    done = run("--hypothesis", tmp_path / "empty", "--reference", tmp_path / "empty", tmp_path / "empty", "--skip-empty-references", status=3)
    assert b"text 2 has no reference" in done.stderr


def test_exact_match(tmp_path):
    """Right where a text is one of its references, white space at both ends aside."""
    hypotheses, first = ["a b", " A b ", "a  b", "", "x"], ["a b", "a b", "a b", "", "y"]
    found = evaluate(tmp_path, hypotheses, [first], "--metrics", "exact_match")["exact_match"]
    assert found == {"score": 40.0, "signature": "nrefs:1|case:mixed", "details": "(2 of 5 texts)"}
    found = evaluate(tmp_path, hypotheses, [first, ["z", "z", "z", "z", "x"]], "--metrics", "bleu,exact_match", "--lowercase")["exact_match"]
    assert (found["score"], found["signature"]) == (80.0, "nrefs:2|case:lc")
    sentences = evaluate(tmp_path, hypotheses, [first], "--metrics", "exact_match", "--sentence-level")["exact_match"]
    assert sentences["scores"] == [100, 0, 0, 100, 0]


def test_sentence_level(tmp_path):
    references = [odd_text(1) + made_text(40, 2), corrupt(odd_text(1) + made_text(40, 2), 3)]
    hypotheses = corrupt(references[0], 4)
    metrics = {"bleu": BLEU(effective_order=True), "chrf": CHRF(), "chrf++": CHRF(word_order=2), "ter": TER()}
    answer = evaluate(tmp_path, hypotheses, references, "--sentence-level", "--metrics", ",".join(metrics))
    for key, metric in metrics.items():
        expected = [metric.sentence_score(h.rstrip(), [r.rstrip() for r in refs]).score for h, *refs in zip(hypotheses, *references)]
        assert answer[key]["scores"] == pytest.approx(expected, abs=2e-9)
        assert answer[key]["signature"] == str(metric.get_signature())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_p_values(tmp_path, seed):
    references = [made_text(150, seed)]
    systems = [corrupt(references[0], seed + 10), corrupt(references[0], seed + 20)]
    metrics = {"bleu": BLEU(), "chrf": CHRF(), "chrf++": CHRF(word_order=2), "ter": TER()}
    baseline = write(tmp_path / "baseline", systems[0])
    answer = evaluate(tmp_path, systems[1], references, "--baseline", baseline, "--metrics", ",".join(metrics))
    for key, metric in metrics.items():
        # One metric at a time: PairedTest keys its results by name.
        named = [("baseline", stripped(systems[0])), ("system", stripped(systems[1]))]
        signatures, scores = PairedTest(named, {key: metric}, [stripped(references[0])], test_type="bs", n_samples=1000)()
        name = next(iter(signatures))
        assert answer[key]["signature"] == str(signatures[name])
        before, after = scores[name]
        assert answer[key]["p_value"] == pytest.approx(after.p_value, abs=0.002)
        assert answer[key]["mean"] == pytest.approx(after.mean, abs=1e-3)
        assert answer[key]["confidence"] == pytest.approx(after.ci, abs=1e-3)
        assert answer[key]["baseline"]["score"] == pytest.approx(before.score, abs=2e-9)
        assert answer[key]["baseline"]["mean"] == pytest.approx(before.mean, abs=1e-3)


def made_links(count, seed):
    generator = random.Random(seed)
    return [{(generator.randrange(6), generator.randrange(6)) for _ in range(generator.randrange(9))} for _ in range(count)]


def aer(predicted, sure, possible):
    """Och and Ney's formula over all sentences, in percent."""
    hits = sum(len(a & s) + len(a & (s | p)) for a, s, p in zip(predicted, sure, possible))
    return 100 * (1 - hits / sum(len(a) + len(s) for a, s in zip(predicted, sure)))


def test_alignment_error_rate(tmp_path):
    predicted, worse, sure, possible = (made_links(80, seed) for seed in (1, 2, 1, 3))
    sure = [set(list(links)[1:]) for links in sure]
    possible = [p - s for p, s in zip(possible, sure)]
    lines = [" ".join(f"{i}-{j}" for i, j in links) for links in predicted]
    gold = [" ".join([f"{i}-{j}" for i, j in s] + [f"{i}{'?p'[n % 2]}{j}" for i, j in p]) for n, (s, p) in enumerate(zip(sure, possible))]
    turned = [" ".join([f"{j}-{i}" for i, j in s] + [f"{j}?{i}" for i, j in p]) for s, p in zip(sure, possible)]
    want = pytest.approx(aer(predicted, sure, possible), abs=2e-9)
    answer = evaluate(tmp_path, lines, [gold], "--metrics", "aer")["aer"]
    assert answer["score"] == want and answer["signature"] == "nrefs:1|swap:no"
    answer = evaluate(tmp_path, [f"-1.5 ||| {line}" for line in lines], [turned], "--metrics", "aer", "--aer.swap-reference")["aer"]
    assert answer["score"] == want and answer["signature"] == "nrefs:1|swap:yes"
    assert evaluate(tmp_path, lines, [turned], "--metrics", "aer")["aer"]["score"] > 50
    answer = evaluate(tmp_path, lines, [gold], "--metrics", "aer", "--sentence-level")["aer"]
    assert answer["scores"][3] == pytest.approx(aer(predicted[3:4], sure[3:4], possible[3:4]), abs=2e-9)
    baseline = write(tmp_path / "baseline", [" ".join(f"{i}-{j}" for i, j in links) for links in worse])
    answer = evaluate(tmp_path, lines, [gold], "--metrics", "aer", "--baseline", baseline)["aer"]
    assert answer["baseline"]["score"] == pytest.approx(aer(worse, sure, possible), abs=2e-9)
    assert answer["p_value"] < 0.01 and answer["signature"] == "nrefs:1|bs:1000|seed:12345|swap:no"


def test_references_start_at_the_data_folder_and_translations_here(tmp_path):
    (tmp_path / "data").mkdir()
    write(tmp_path / "h", ["a b c d e"])
    write(tmp_path / "data" / "r", ["a b c d e"])
    write(tmp_path / "data" / "h", ["x"])
    command = [ATTEND, "evaluate", "--hypothesis", "h", "--reference", "r", "--baseline", "h"]
    environment = {name: value for name, value in os.environ.items() if name != "ATTEND_DATA"}
    for more, found in [(dict(ATTEND_DATA="data"), True), ({}, False), (dict(ATTEND_DATA="gone"), False)]:
        done = subprocess.run(command, cwd=tmp_path, env=environment | more, capture_output=True, text=True, check=False)
        assert (done.returncode, " = 100.00 " in done.stdout) == ((0, True) if found else (3, False)), done
    done = subprocess.run([*command, "--data-dir", "data"], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 0


def test_text_output_is_sacrebleus(tmp_path):
    references = made_text(30, 1)
    hypotheses = corrupt(references, 2)
    files = ["--hypothesis", write(tmp_path / "h", hypotheses), "--reference", write(tmp_path / "r", references)]
    lines = run(*files, "--metrics", "bleu", "chrf", "chrf++,ter").stdout.decode().splitlines()
    for line, metric in zip(lines, [BLEU(), CHRF(), CHRF(word_order=2), TER()], strict=True):
        score = metric.corpus_score(stripped(hypotheses), [stripped(references)])
        assert line == score.format(signature=str(metric.get_signature()))


def test_line_ends(tmp_path):
    (tmp_path / "h").write_bytes(b"a b\x0bc d\r\nlast\xe2\x80\xa8line e")
    (tmp_path / "r").write_bytes(b"a b c d\nlast line e\n")
    answer = json.loads(run("--hypothesis", tmp_path / "h", "--reference", tmp_path / "r", "--json").stdout)
    assert answer["bleu"]["score"] == 100


def test_errors(tmp_path):
    h, r, empty = write(tmp_path / "h", ["a"] * 3), write(tmp_path / "r", ["a"] * 2), write(tmp_path / "e", [])

    def message(status, *arguments):
        lines = run(*arguments, status=status).stderr.decode().splitlines()
        assert len(lines) == 1
        return lines[0]

    assert f"{h} has 3 lines and {r} has 2" in message(3, "--hypothesis", h, "--reference", r)
    assert f"{h} has 3 lines and {r} has 2" in message(3, "--hypothesis", h, "--reference", h, "--baseline", r)
    assert f"{empty} is empty" in message(3, "--hypothesis", empty, "--reference", empty)
    assert str(tmp_path / "none") in message(3, "--hypothesis", tmp_path / "none", "--reference", r)
    assert "did you mean 'bleu'?" in message(2, "--hypothesis", h, "--reference", h, "--metrics", "blue")
    assert "twice" in message(2, "--hypothesis", h, "--reference", h, "--metrics", "bleu,bleu")
    assert "is no metric" in message(2, "--hypothesis", h, "--reference", h, "--metrics", "bleu,")
    assert "--hypothesis is missing" in message(2, "--reference", r)
    assert "--reference is missing" in message(2, "--hypothesis", r)
    assert "--sentence-level" in message(2, "--hypothesis", h, "--reference", h, "--baseline", h, "--sentence-level")
    (tmp_path / "bytes").write_bytes(b"a\xff\n")
    done = run("--hypothesis", tmp_path / "bytes", "--reference", write(tmp_path / "one", ["a\ufffd"]))
    assert b" = 100.00 " in done.stdout or b" = 0.00 " in done.stdout
    assert b"1 malformed" in done.stderr
