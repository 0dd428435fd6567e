"""`attend evaluate --metrics brackets` against evalb itself, to its printed digits, on real trees with random changes.

evalb.c is compiled where ATTEND_EVALB names the folder that holds it and COLLINS.prm; without one the test is skipped. The wheel of
allennlp 0.9.0 has that folder: `pip download --no-deps allennlp==0.9.0`, unpacked, allennlp/tools/EVALB.
"""

import json
import os
import pathlib
import random
import re
import subprocess

import pytest

ATTEND = pathlib.Path(os.environ["BUILD_DIR"]) / "attend"
EVALB = pathlib.Path(os.environ.get("ATTEND_EVALB", "/nowhere"))
TREEBANK = pathlib.Path(os.environ.get("ATTEND_DATA", "/nowhere")) / "treebank"
# evalb's own buffers are too small for long sentences.
LARGER = {"MAX_SENT_LEN": 50000, "MAX_WORD_IN_SENT": 2000, "MAX_BRACKET_IN_SENT": 3000}
FIGURES = {
    "Number of sentence": "sentences",
    "Number of Error sentence": "errors",
    "Number of Skip  sentence": "skipped",
    "Bracketing Recall": "recall",
    "Bracketing Precision": "precision",
    "Bracketing FMeasure": "f1",
    "Complete match": "exact_match",
    "Average crossing": "average_crossing",
    "No crossing": "no_crossing",
    "2 or less crossing": "few_crossing",
    "Tagging accuracy": "tagging_accuracy",
}


@pytest.fixture(scope="module")
def evalb(tmp_path_factory):
    if not (EVALB / "evalb.c").exists():
        pytest.skip("evalb is not there")
    folder = tmp_path_factory.mktemp("evalb")
    source = (EVALB / "evalb.c").read_text(encoding="latin-1")
    source = re.sub(r"(#define (MAX_SENT_LEN|MAX_WORD_IN_SENT|MAX_BRACKET_IN_SENT)\s+)\d+", lambda m: m[1] + str(LARGER[m[2]]), source)
    source = source.replace("[5000]", "[50000]").replace(",5000,", ",50000,").replace("match_j[200]", "match_j[3000]")
    (folder / "evalb.c").write_text(source, encoding="latin-1")
    subprocess.run(["gcc", "-w", "-std=gnu89", "-O1", "-o", folder / "evalb", folder / "evalb.c"], check=True)

    def run(found, expected):
        (folder / "found").write_text("".join(line + "\n" for line in found), encoding="utf-8")
        (folder / "expected").write_text("".join(line + "\n" for line in expected), encoding="utf-8")
        command = [folder / "evalb", "-p", EVALB / "COLLINS.prm", "-e", "1000000", folder / "expected", folder / "found"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [dict(re.findall(r"^(.*?) *= *(\S+)$", part, re.M)) for part in re.split("-- All --|-- len<=40 --", text)[1:]]

    return run


def read(files):
    """Trees as [label, children] or [tag, word], traces and function tags as they stand."""
    for file in files:
        stack = [["", []]]
        for token in re.findall(r"\(|\)|[^\s()]+", file.read_text()):
            if token == "(":
                stack.append([None, []])
            elif token == ")":
                node = stack.pop()
                stack[-1][1].append([node[0] or "", node[1]])
            elif stack[-1][0] is None and not stack[-1][1]:
                stack[-1][0] = token
            else:
                stack[-1][1] = token
        yield from stack[0][1]


def line_of(tree):
    label, children = tree
    return f"({label} {children if isinstance(children, str) else ' '.join(map(line_of, children))})"


def changed(tree, generator, tags, labels):
    """Some constituents renamed, doubled, dissolved or divided, some tags changed."""
    label, children = tree
    if isinstance(children, str):
        return [[generator.choice(tags) if generator.random() < 0.02 else label, children]]
    new = [part for child in children for part in changed(child, generator, tags, labels)]
    draw = generator.random()
    if draw < 0.05:
        return new
    if draw < 0.1:
        return [[label, [[generator.choice(labels), new]]]]
    if draw < 0.2 and len(new) > 2:
        cut = generator.randrange(1, len(new) - 1)
        return [[label, [[generator.choice(labels), new[:cut]], *new[cut:]]]]
    return [[generator.choice(labels) if draw < 0.3 else label, new]]


def evaluate(folder, found, expected):
    (folder / "found").write_text("".join(line + "\n" for line in found), encoding="utf-8")
    (folder / "expected").write_text("".join(line + "\n" for line in expected), encoding="utf-8")
    command = [ATTEND, "evaluate", "--metrics", "brackets", "--hypothesis", folder / "found", "--reference", folder / "expected"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    numbers = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)["brackets"]
    return text, numbers


def check(evalb, folder, found, expected):
    text, numbers = evaluate(folder, found, expected)
    theirs = evalb(found, expected)
    parts = [dict(re.findall(r"^(.*?) *= *(\S+)$", part, re.M)) for part in re.split("-- All --|-- len<=40 --", text)[1:]]
    for mine, other, json_part in zip(parts, theirs, (numbers, numbers["within_40"]), strict=True):
        assert mine == {key: value.replace("-nan", "0.00").replace("nan", "0.00") for key, value in other.items()}
        for name, key in FIGURES.items():
            assert float(mine[name]) == json_part[key]
    return theirs[0]


@pytest.mark.skipif(not TREEBANK.exists(), reason="the treebank is not there")
@pytest.mark.parametrize("seed", range(4))
def test_real_trees_with_changes(evalb, tmp_path, seed):
    generator = random.Random(seed)
    expected = list(read(sorted(TREEBANK.glob("combined/*.mrg"))[40 * seed : 40 * seed + 40]))
    labels = ["NP", "VP", "PP", "ADVP", "PRT", "S", "TOP", "NP-SBJ", "-NONE-", "X=1", "."]
    tags = ["NN", "NNP", "VB", ",", ".", ":", "``", "''", "-NONE-", "-LRB-", "PRT", "ADVP"]
    found = [changed(tree, generator, tags, labels) for tree in expected]
    lines = [" ".join(map(line_of, trees)) for trees in found]
    for _ in range(5):
        lines[generator.randrange(len(lines))] = generator.choice(["", "(())", "(S (. .))"])
    theirs = check(evalb, tmp_path, lines, [line_of(tree) for tree in expected])
    assert int(theirs["Number of Valid sentence"]) > 100 and int(theirs["Number of Error sentence"]) > 10
    assert int(theirs["Number of Skip  sentence"]) > 2
    assert 20 < float(theirs["Bracketing FMeasure"]) < 95


def test_odd_lines(evalb, tmp_path):
    gold = "(S (A (P this)) (B (Q is) (A (R a) (T test))))"
    found = [
        *[gold, "(S (P this) (Q is) (R a) (T test))", "(P this) (Q is) (R a) (T test)", "", "(())", "()", "( (S (A (P this)) (B (Q is) (A (R a) (T test)))) )"],
        *["(TOP (S (A (P this)) (B (Q is) (A (R a) (T test)))))", "(S (A (P this) ()) (B (Q is) (A (R a) (T test)) (())))"],
        *["(S (A (P This)) (B (Q is) (A (R a) (T test))))", "(S (A (P this)) (B (Q is) (A (R a) (T test) (U )))) ", "(S (A (P this)) (B (Q is) (A (R a) (T test)))"],
        *["(S-A=B (A-SBJ (P this)) (B=2 (Q is) (A (R a) (T test))))", "(-S (=A (P this)) (B (Q is) (A (R a) (T test))))"],
    ]
    check(evalb, tmp_path, found, [gold] * len(found))
    check(evalb, tmp_path, [gold] * len(found[:3]), found[:3])
    check(evalb, tmp_path, ["(S (A a))"], ["(S (A b))"])


def test_evalbs_own_example(evalb, tmp_path):
    read_lines = [(EVALB / "sample" / f"sample.{name}").read_text().splitlines() for name in ("tst", "gld")]
    check(evalb, tmp_path, *read_lines)


def test_files_of_other_lengths_are_refused(tmp_path):
    for name, lines in (("found", "(A (B b))\n"), ("expected", "(A (B b))\n(A (B b))\n"), ("empty", "")):
        (tmp_path / name).write_text(lines)
    command = [ATTEND, "evaluate", "--metrics", "brackets", "--hypothesis", tmp_path / "found", "--reference"]
    done = subprocess.run([*command, tmp_path / "expected"], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "has 1 lines" in done.stderr and "a tree a line" in done.stderr
    command[command.index("--hypothesis") + 1] = tmp_path / "empty"
    done = subprocess.run([*command, tmp_path / "empty"], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "is empty" in done.stderr
