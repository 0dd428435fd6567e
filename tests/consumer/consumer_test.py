"""Installs this build into an empty folder and uses it from there, as another project would: find_package, compile, run."""

import json
import os
import pathlib
import re
import subprocess

import pytest
import random_models

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["BUILD_DIR"])
CACHE = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(encoding="utf-8"), flags=re.M))
WITH_TRAIN = CACHE["ATTEND_TRAIN"] == "ON"
# LibTorch for GPUs, without a CUDA toolkit, is linked without its package, which another project could not find either.
HAS_PACKAGE_OF_TORCH = WITH_TRAIN and "Torch_DIR" in CACHE


def run(*command, status=0):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(name="prefix", scope="module")
def install(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


@pytest.fixture(name="built", scope="module")
def build_consumer(prefix, tmp_path_factory):
    folder = tmp_path_factory.mktemp("consumer")
    torch = re.sub(r"/share/cmake/Torch/?$", "", CACHE.get("Torch_DIR", ""))
    run("cmake", "-S", HERE, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_PREFIX_PATH={prefix};{torch}", f"-DWITH_TRAIN={'ON' if HAS_PACKAGE_OF_TORCH else 'OFF'}")
    run("cmake", "--build", folder)
    return folder


def test_programs_licences_and_only_public_headers_are_installed(prefix):
    assert run(prefix / "bin/attend", "--version").startswith("attend ")
    assert (prefix / "bin/attend-train").exists() == WITH_TRAIN
    if WITH_TRAIN:
        assert "--config" in run(prefix / "bin/attend", "train", "--help")
    assert (prefix / "include/attend/nn").exists() == WITH_TRAIN
    documents = {path.name for path in (prefix / "share/doc/attend").iterdir()}
    assert documents == {"LICENSE", "NOTICE", "THIRD_PARTY.md"}
    for header in (prefix / "include").rglob("*.h"):
        for line in header.read_text(encoding="utf-8").splitlines():
            assert not line.startswith(("#include <fmt", "#include <nlohmann", "#include <spdlog")), header
            match = re.match(r'#include "(.*)"', line)
            assert match is None or (prefix / "include" / match.group(1)).exists(), header


def test_no_file_of_the_package_names_this_build(prefix):
    for path in prefix.rglob("*.cmake"):
        assert str(BUILD.parent) not in path.read_text(encoding="utf-8"), path


def test_the_installed_program_needs_no_torch(prefix):
    assert "torch" not in run("ldd", prefix / "bin/attend")


def test_the_vocabulary_example(built, prefix, tmp_path):
    text = tmp_path / "text"
    text.write_text("the small house\nthe large house\na small mouse\n" * 20, encoding="utf-8")
    vocabulary = tmp_path / "vocab.spm"
    run(prefix / "bin/attend", "vocab", "--quiet", "--input", text, "--size", 16, "--output", vocabulary)
    assert run(built / "vocabulary", vocabulary).splitlines()[1] == "the small house"
    run(built / "vocabulary", tmp_path / "gone", status=3)


def test_the_metrics_example_gives_what_sacrebleu_gives(built):
    sacrebleu = pytest.importorskip("sacrebleu")
    hypotheses = ["The big queen paints all tables.", "It rains."]
    references = [["The big queen paints every table.", "It rains."]]
    bleu, chrf = sacrebleu.corpus_bleu(hypotheses, references), sacrebleu.corpus_chrf(hypotheses, references)
    assert run(built / "metrics") == f"{bleu.score:.4g} {chrf.score:.4g}\n"


def test_the_translation_example(built, tmp_path):
    model = HERE.parent / "data/golden_v1"
    assert re.search(r" \(-[\d.]+, \w+\)$", run(built / "translate", model, "the small house"))
    run(built / "translate", tmp_path / "gone", "the small house", status=3)


def test_the_generation_example(built, prefix, tmp_path):
    model = HERE.parent / "data/golden_language_model"
    text, _, score = run(built / "generate", model, "The old man").rpartition(" (")
    wanted = run(prefix / "bin/attend", "generate", "The old man", "--model", model, "--max-tokens", 60, "--temperature", 0.8, "--seed", 7)
    assert text + "\n" == wanted and float(score.rstrip(")\n")) < 0
    run(built / "generate", tmp_path / "gone", "The", status=3)


@pytest.fixture(name="encoders", scope="module")
def write_encoders(tmp_path_factory):
    return random_models.write_encoders(tmp_path_factory.mktemp("encoders"))


def test_the_tagging_example(built, prefix, encoders):
    text = "the house , a green door"
    found = run(built / "tag", encoders["tagging"], text).splitlines()
    wanted = subprocess.run([prefix / "bin/attend", "tag", "--model", encoders["tagging"]], input=text, capture_output=True, text=True, check=True)
    entities = json.loads(wanted.stdout)["entities"]
    assert [line.rpartition(" (")[0] for line in found] == [f"{each['label']} {each['begin']} {each['end']} {each['text']}" for each in entities] != []
    run(built / "tag", encoders["classification"], text, status=3)


def test_the_parsing_example(built, prefix, encoders, tmp_path):
    parser, sentence = random_models.write_parser(tmp_path), "the house ."
    tree, *constituents = run(built / "parse", parser, sentence).splitlines()
    wanted = subprocess.run([prefix / "bin/attend", "parse", "--model", parser, "--plain"], input=sentence, capture_output=True, text=True, check=True)
    assert tree + "\n" == wanted.stdout and constituents[0].split()[1:] == ["0", "3"]
    run(built / "parse", encoders["tagging"], sentence, status=3)


def test_the_classification_example(built, encoders):
    rows = [line.split() for line in run(built / "classify", encoders["classification"], "the house").splitlines()]
    assert sorted(label for label, _ in rows) == ["high", "low", "mid"]
    assert sum(float(probability) for _, probability in rows) == pytest.approx(1, abs=1e-4)
    run(built / "classify", encoders["tagging"], "the house", status=3)


def test_the_filling_example(built, prefix, encoders):
    *tokens, last = run(built / "fill", encoders["masked_language_model"], "the [MASK] house").splitlines()
    wanted = json.loads(run(prefix / "bin/attend", "fill", "the [MASK] house", "--model", encoders["masked_language_model"], "--top", 3, "--json"))
    assert [token.split()[0] for token in tokens] == [token["token"] for token in wanted["masks"][0]]
    assert last.startswith(wanted["filled"] + " (")
    run(built / "fill", encoders["masked_language_model"], "the house", status=3)


def test_the_attention_example(built):
    if not HAS_PACKAGE_OF_TORCH:
        pytest.skip("this build has no attend_train" if not WITH_TRAIN else "LibTorch is for GPUs, and there is no CUDA toolkit")
    assert run(built / "attention") == "[1, 5, 512] [1, 8, 5, 5]\n"


def test_configuring_warns_of_no_part_of_torch(tmp_path):
    if not WITH_TRAIN:
        pytest.skip("this build has no attend_train")
    given = [f"-D{name}={CACHE[name]}" for name in ("ATTEND_TORCH", "ATTEND_SENTENCEPIECE") if CACHE.get(name)]
    command = ["cmake", "-S", HERE.parents[1], "-B", tmp_path, "-G", "Ninja", "-DATTEND_TESTS=OFF", *given]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "torch" not in done.stderr.lower(), done.stderr


def test_a_build_without_training_says_so(prefix, tmp_path):
    if WITH_TRAIN:
        pytest.skip("this build has attend_train")
    command = ["cmake", "-S", HERE, "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", "-DWITH_TRAIN=ON"]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "built without training" in " ".join(done.stderr.split())
