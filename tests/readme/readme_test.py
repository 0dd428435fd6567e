"""What the README and the pages of docs/ show works as it is written: my.toml and the commands, on a small text of our own.

The numbers that decide how long training takes are made smaller; everything else is run as it stands.
"""

import base64
import gzip
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import encoder_models
import pytest
import random_models
import tiny_run

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["BUILD_DIR"])
LANGUAGE_MODEL = ROOT / "tests/data/golden_language_model"
SMALLER = {"vocab_size": "150", "max_updates": "4"}


def blocks(language, page="README.md"):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.M | re.S)


def commands(page):
    """The lines of its bash blocks that call the program and end by themselves; continued lines are joined."""
    text = "".join(blocks("bash", page)).replace("\\\n", " ")
    return [line for line in text.splitlines() if "build/attend " in line and " serve " not in line]


ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "ATTEND_DATA"}  # the text is here


def run(folder, command):
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, f"{command}\n{done.stderr[-2000:]}"
    return done.stdout


@pytest.fixture(name="encoders", scope="session")
def trained_encoders():
    return dict(zip(("tagger", "classifier", "masked"), encoder_models.trained_encoders("tagger", "classifier", "masked_language_model")))


@pytest.fixture(name="folder", scope="module")
def trained_as_written(encoders, tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme")
    corpus = folder / "corpus"
    subprocess.run([sys.executable, ROOT / "tools/demo_corpus.py", corpus, "--train", "300", "--held-out", "5"], check=True)
    for ours, theirs in (("train", "train"), ("valid", "valid"), ("test_pairs", "test")):
        shutil.copy(corpus / f"{ours}.src", folder / f"{theirs}.en")
        shutil.copy(corpus / f"{ours}.tgt", folder / f"{theirs}.de")
    recipe = blocks("toml")[0]
    for name, value in SMALLER.items():
        recipe, count = re.subn(rf"^{name} = \d+$", f"{name} = {value}", recipe, flags=re.M)
        assert count == 1, f"my.toml of the README does not set {name}"
    (folder / "my.toml").write_text(recipe, encoding="utf-8")
    (folder / "build").symlink_to(BUILD)
    for run_of, model in {"my-language-model": LANGUAGE_MODEL, "out/demo/tales_run": LANGUAGE_MODEL, "out/demo/textiles_run": encoders["tagger"],
                          "my-tagger": encoders["tagger"], "my-classifier": encoders["classifier"], "my-encoder": encoders["masked"]}.items():
        shutil.copytree(model, folder / run_of / "model")
    (folder / "out/demo/digits_run/model").mkdir(parents=True)
    random_models.write_picture_model(folder / "out/demo/digits_run/model")
    subprocess.run([BUILD / "tools/made_digits", "pictures", folder / "out/demo/digits", "10"], check=True)
    (folder / "out/demo/sounds_run/model").mkdir(parents=True)
    random_models.write_transcriber(folder / "out/demo/sounds_run/model")
    subprocess.run([BUILD / "tools/made_digits", "sounds", folder / "out/demo/sounds", "10"], check=True)
    for command in commands("README.md"):
        run(folder, command)
    return folder


def test_the_first_real_use(folder):
    assert len((folder / "out.de").read_text(encoding="utf-8").splitlines()) == 5
    assert "<svg" in (folder / "attention.svg").read_text(encoding="utf-8")
    assert "<html" in (folder / "my-model/report.html").read_text(encoding="utf-8").lower()


def test_the_page_of_training(folder):
    for name in ("small", "large", "runs/one", "runs/two", "sweep/trial-0", "sweep/trial-1"):
        shutil.copytree(folder / "my-model", folder / name)
    for command in commands("docs/training.md"):
        if not command.startswith((".venv/bin/torchrun", "build-cuda/", "srun")):
            of_tokens = " --vocab-size 0" if "my-model/more" in command and "--init" in command else ""  # my.toml says how many
            run(folder, command.replace("--config more-text.toml", "--config my.toml") + of_tokens)


def test_the_page_of_translating(folder):
    shutil.copy(folder / "out.de", folder / "new.de")
    shutil.copy(folder / "out.de", folder / "old.de")
    shutil.copy(folder / "test.en", folder / "all.en")
    (folder / "terms.tsv").write_text("house\tHaus\n", encoding="utf-8")
    for name in ("first", "second", "backwards"):
        shutil.copytree(folder / "my-model/model", folder / name / "model")
    random_models.reverse_of(folder / "my-model/model", folder / "de-en/model")
    (folder / "all.en.gz").write_bytes(gzip.compress((folder / "test.en").read_bytes()))
    for command in commands("docs/translating.md"):
        run(folder, command.replace("--max-updates 3000 --validate-every 500", "--max-updates 2 --validate-every 1"))
    assert "<html" in (folder / "attention.html").read_text(encoding="utf-8").lower()


def test_the_page_of_language_models(folder):
    for name in ("prompts.txt", "test.txt"):
        (folder / name).write_text("The old man\nA bird sees\n", encoding="utf-8")
    assert len(commands("docs/generating.md")) == 4
    for command in commands("docs/generating.md"):
        run(folder, command)
    assert len((folder / "texts.txt").read_text(encoding="utf-8")) > 2


COLUMNS = "-DOCSTART- O\n\nKanchipuram I-CLUSTER\nsarees O\nhave O\nsilk I-MATERIAL\nborders I-PART\n\nPaithan I-CLUSTER\nsarees O\n\n"


def test_the_page_of_labels(folder):
    (folder / "notes.txt").write_text("Kanchipuram sarees have silk borders.\n", encoding="utf-8")
    (folder / "names.txt").write_text("fresh bread tastes of pepper\n", encoding="utf-8")
    (folder / "eng.testb").write_text(COLUMNS, encoding="utf-8")
    encoder_models.write_topics(folder / "test.tsv", 2, 30)
    shutil.copytree(folder / "my-model/model", folder / "runs/multi30k-en-de/model")
    random_models.write_estimator(folder / "runs/quality/model")
    told = [run(folder, command) for command in commands("docs/labels.md") if " train " not in command]
    assert len(told) == 7
    assert json.loads(told[0])["text"] == "Kanchipuram sarees have silk borders."
    labels = re.findall(r"^\S+ \S+ (\S+)$", (folder / "tagged.txt").read_text(encoding="utf-8"), flags=re.M)
    assert len(labels) == 8 and set("".join(label[0] for label in labels)) == {"I", "O"}  # as the reference spells them
    assert "CLUSTER" in told[2] and "accuracy of 8 labels" in told[2]
    assert told[3].startswith("food\t")
    assert "accuracy of 30 items: 100.00" in told[5]
    assert all(line.count(" |||") == 2 for line in told[6].splitlines()) and told[6].count("\n") == (folder / "test.en").read_text(encoding="utf-8").count("\n")


def test_the_page_of_masked_language_models(encoders, tmp_path):
    (tmp_path / "build").symlink_to(BUILD)
    (tmp_path / "my-model").mkdir()
    (tmp_path / "my-model/model").symlink_to(encoders["masked"])
    (tmp_path / "texts.txt").write_text("red [MASK] blue sky\n", encoding="utf-8")
    told = [run(tmp_path, command) for command in commands("docs/masked_language_models.md")]
    assert len(told) == 4
    assert json.loads(told[1])["filled"] == "red apple blue sky"
    assert len((tmp_path / "vectors.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    assert (tmp_path / "vectors.npy").read_bytes().startswith(b"\x93NUMPY")


FEW = ["--max-updates", "2", "--validate-every", "1", "--batch-tokens", "200"]


@pytest.mark.parametrize(("page", "number", "vocab_size"), [
    ("docs/labels.md", 0, "28"), ("docs/labels.md", 1, "60"), ("docs/masked_language_models.md", 0, "45"), ("docs/generating.md", 0, "60")])
def test_the_recipes_of_the_pages(page, number, vocab_size, encoders, tmp_path):
    del encoders  # skipped where this build can't train
    recipe = blocks("toml", page)[number]
    for option, name in re.findall(r'^(\w+_(?:columns|table|text)) = "(.*)"$', recipe, flags=re.M):
        if option.endswith("_table"):
            encoder_models.write_topics(tmp_path / name, 1, 40)
            continue
        text = (COLUMNS if option.endswith("_columns") else COLUMNS.replace("\n", " ") * 3 + "\n") * 20
        (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    (tmp_path / "recipe.toml").write_text(recipe, encoding="utf-8")
    (tmp_path / "build").symlink_to(BUILD)
    run(tmp_path, f"build/attend train --config recipe.toml --output run --vocab-size {vocab_size} {' '.join(FEW)}")
    assert (tmp_path / "run/model/config.json").exists()


def test_the_page_of_pictures(encoders, tmp_path):
    del encoders  # skipped where this build can't train
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "build").symlink_to(BUILD)
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    (tmp_path / "DATA/fashion-mnist").mkdir(parents=True)
    for name in ("train", "t10k"):
        pixels = tiny_run.write_pictures(tmp_path, name, 40, 1, side=28)
        for path in (pixels, pixels.with_name(f"{name}-labels-idx1-ubyte")):
            (tmp_path / "DATA/fashion-mnist" / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    (tmp_path / "photos").mkdir()
    for path, kind in (("shirt.png", "PNG"), ("shoe.jpg", "JPEG"), ("photos/1.jpg", "JPEG")):
        image.new("RGB", (30, 40), (200, 30, 60)).save(tmp_path / path, kind)
    few = " --max-updates 2 --validate-every 1 --batch-tokens 500 --valid-count 10"
    told = [run(tmp_path, command + few * (" train " in command)) for command in commands("docs/pictures.md")]
    assert len(told) == 6 and len(told[1].splitlines()) == 2
    assert len((tmp_path / "classes.txt").read_text(encoding="utf-8").splitlines()) == 40
    samples = json.loads((tmp_path / "my-vit/samples.jsonl").read_text(encoding="utf-8").splitlines()[-1])["samples"]
    assert image.open(io.BytesIO(base64.b64decode(samples[0]["picture"].partition("base64,")[2]))).size == (28, 28)
    assert "<svg" in (tmp_path / "shoe.svg").read_text(encoding="utf-8") and "<html" in (tmp_path / "shoe.html").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "classes.jsonl").read_text(encoding="utf-8"))["picture"] == "photos/1.jpg"
    for part in ("train", "validation"):
        for number, label in enumerate(("saree", "shirt")):
            (tmp_path / "shop" / part / label).mkdir(parents=True)
            image.new("RGB", (96, 120), (0, 90 * number, 90)).save(tmp_path / "shop" / part / label / "1.jpg")
    (tmp_path / "recipe.toml").write_text(blocks("toml", "docs/pictures.md")[0], encoding="utf-8")
    run(tmp_path, f"build/attend train --config recipe.toml --output run {' '.join(FEW)}")
    assert "saree, shirt" in run(tmp_path, "build/attend inspect run/model")


def test_the_page_of_fusion(encoders, tmp_path):
    del encoders  # skipped where this build can't train
    (tmp_path / "build").symlink_to(BUILD)
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    make = blocks("bash", "docs/fusion.md")[0].splitlines()[0].split()
    subprocess.run([sys.executable, ROOT / make[0], tmp_path / make[1], "--items", "24", "--valid", "8", "--test", "8"], check=True)
    few = " --max-updates 2 --validate-every 1 --checkpoint-every 1 --vocab-size 120 --fusion.picture.layers 1"
    # The section of a graph from texts has a tagger, which takes long to train; graph_from_text_test.py runs its script.
    told = [run(tmp_path, command + few * (" train " in command)) for command in commands("docs/fusion.md") if "CORPORA" not in command]
    assert len(told) == 8 and len(told[1].splitlines()) == len(told[3].splitlines()) == 8
    assert len((tmp_path / "texts.jsonl").read_text(encoding="utf-8").splitlines()) == 8 and (tmp_path / "pictures.npy").exists()
    assert "text_to_picture_recall_10" in (tmp_path / "my-vectors/result.json").read_text(encoding="utf-8")
    assert "ItemView" in (tmp_path / "item.html").read_text(encoding="utf-8")
    answer = json.loads((tmp_path / "answers.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert answer["id"] == "test-0" and set(answer["contributions"]) == {"text", "picture", "links"}
    by_inputs = json.loads((tmp_path / "my-fusion/result.json").read_text(encoding="utf-8"))["by_inputs"]
    assert [len(row["inputs"]) for row in by_inputs] == [1, 1, 2, 1, 2, 2, 3]
    (tmp_path / "page.py").write_text("\n".join(blocks("python", "docs/fusion.md")), encoding="utf-8")
    told = run(tmp_path, f"PYTHONPATH=build/python {sys.executable} page.py")
    assert "'links': " in told and re.search(r"^\[\[[01]\.", told, re.MULTILINE)
    (tmp_path / "DATA").rename(tmp_path / "shop")
    (tmp_path / "recipe.toml").write_text("".join(blocks("toml", "docs/fusion.md")), encoding="utf-8")
    run(tmp_path, f"build/attend train --config recipe.toml --output run --vocab-size 120 {' '.join(FEW)}")
    assert "graph          641 nodes" in run(tmp_path, "build/attend inspect run/model")


def test_the_page_of_speech(encoders, tmp_path):
    del encoders  # skipped where this build can't train
    (tmp_path / "build").symlink_to(BUILD)
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    tones = tiny_run.write_recordings(tmp_path, "tones", 40, 1)
    (tmp_path / "DATA/fsdd").mkdir(parents=True)
    with tarfile.open(tmp_path / "DATA/fsdd/fsdd.tar.xz", "w:xz") as packed:
        for number in range(40):
            packed.add(tmp_path / f"tones/{number}.wav", f"recordings/{number % 10}_{'ab'[number % 2]}_{number // 3}.wav")
    (tmp_path / "calls").mkdir()
    for name in ("call.wav", "answer.flac", "calls/1.wav"):  # what a file is, its content says
        shutil.copy(tmp_path / "tones/1.wav", tmp_path / name)
    for part in ("train", "valid", "test"):
        shutil.copy(tones, tmp_path / "calls" / f"{part}.tsv")
    (tmp_path / "calls/tones").symlink_to(tmp_path / "tones")
    run(tmp_path, blocks("bash", "docs/speech.md")[0].splitlines()[0])
    few = " --max-updates 2 --validate-every 1 --checkpoint-every 1 --batch-tokens 500 --vocab-size 20"
    told = [run(tmp_path, command + few * (" train " in command)) for command in commands("docs/speech.md")]
    assert len(told) == 7 and len(told[1].splitlines()) == 2 and len((tmp_path / "heard.txt").read_text(encoding="utf-8").splitlines()) == 40 and (tmp_path / "call.html").exists() and (tmp_path / "vectors.npy").exists() and (tmp_path / "call.srt").exists()
    assert json.loads((tmp_path / "transcripts.jsonl").read_text(encoding="utf-8"))["recording"] == "calls/1.wav"
    (tmp_path / "recipe.toml").write_text(blocks("toml", "docs/speech.md")[0], encoding="utf-8")
    run(tmp_path, f"build/attend train --config recipe.toml --output run {' '.join(FEW)}")
    assert "sound of 8,000 Hz, 40 bands" in run(tmp_path, "build/attend inspect run/model")


def test_the_page_of_text_to_text(folder):
    denoising, tasks = (re.sub(r"^max_updates = .*$", "max_updates = 4", re.sub(r"^vocab_size = .*$", f"vocab_size = {size}", block, flags=re.M), flags=re.M)
                        for block, size in zip(blocks("toml", "docs/text_to_text.md"), (250, 150), strict=True))
    (folder / "denoising.toml").write_text(denoising, encoding="utf-8")
    (folder / "tasks.toml").write_text(tasks, encoding="utf-8")
    for ours, theirs in (("train.en", "plain.en"), ("train.de", "plain.de"), ("test.de", "out.txt"), ("test.de", "test2.de")):
        shutil.copy(folder / ours, folder / theirs)
    (folder / "test2.de").write_text("\n" * 5, encoding="utf-8")
    told = [run(folder, command.replace("--max-updates 2000", "--max-updates 4")) for command in commands("docs/text_to_text.md")]
    assert len(told) == 8
    assert len(told[2].splitlines()) == len(told[4].splitlines()) == 5 and len(told[5].splitlines()) == 1
    assert "exact match|nrefs:1|case:mixed = 100.00" in told[6] and "exact match|nrefs:1" in told[7]


def test_the_page_of_adapters(folder):
    for side in ("en", "de"):
        shutil.copy(folder / f"train.{side}", folder / f"customer.{side}")
        shutil.copy(folder / f"valid.{side}", folder / f"customer-valid.{side}")
    recipe, count = re.subn(r"^max_updates = \d+$", "max_updates = 4", blocks("toml", "docs/adapters.md")[0], flags=re.M)
    assert count == 1
    (folder / "customer.toml").write_text(recipe, encoding="utf-8")
    for command in commands("docs/adapters.md"):
        run(folder, command)
    merged = run(folder, "build/attend translate --model customer/model --input test.en")
    assert merged == run(folder, "build/attend translate --model my-model/model --adapter customer/adapter --input test.en")


UNITS = ('<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>A small house.</seg></tuv>'
         '<tuv xml:lang="de"><seg>Ein kleines Haus.</seg></tuv></tu></body></tmx>')


def test_the_page_of_translation_memories(folder):
    shutil.copy(folder / "test.en", folder / "texts.en")
    (folder / "office.tmx").write_text(UNITS, encoding="utf-8")
    told = [run(folder, "set -e\n" + block.replace("--max-updates 3000 --validate-every 500", "--max-updates 2 --validate-every 1"))
            for block in blocks("bash", "docs/memory.md") if " serve " not in block]
    shown = re.search(r"prints\n\n```\n(.*?)^```", (ROOT / "docs/memory.md").read_text(encoding="utf-8"), flags=re.M | re.S)[1]
    assert len(told) == 3 and told[0].startswith(shown)
    assert len((folder / "train.joined.en").read_text(encoding="utf-8").splitlines()) == 300
    assert told[2].startswith("wrote extended: 1 new token") and len(told[2].splitlines()) > 5


def package_of_python(*needed):
    """The folder of the package, in which recipes and documents are written; a test without it, or what it needs, skips."""
    package = BUILD / "python"
    if not list(package.glob("attend/_attend*.so")):
        pytest.skip("this build has no Python package")
    for name in needed:
        pytest.importorskip(name)
    return package


def test_the_page_of_documents(folder):
    package_of_python("lxml", "polib", "srt")
    (folder / "messages.po").write_text('msgid "A small house."\nmsgstr ""\n', encoding="utf-8")
    (folder / "memory.tmx").write_text(UNITS.replace("</tu>", "</tu><tu><tuv xml:lang='en'><seg>One.</seg></tuv></tu>"), encoding="utf-8")
    (folder / "office.tmx").write_text(UNITS, encoding="utf-8")
    (folder / "film.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nA small house.\n", encoding="utf-8")
    (folder / "units.xlf").write_text(
        '<xliff version="1.2"><file source-language="en"><body><trans-unit id="1"><source>A small house.</source></trans-unit></body></file></xliff>', encoding="utf-8")
    # Other libraries write the slides and the text with formatting; documents_test.py translates theirs.
    told = [run(folder, command.replace("--glossary terms.tsv", "")) for command in commands("docs/documents.md") if not re.search("pptx|odt", command)]
    assert len(told) == 4 and all(" 1 text translated" in line for line in told)
    assert "<target" in (folder / "units.de.xlf").read_text(encoding="utf-8")


def test_the_page_of_small_models(folder):
    package_of_python()
    (folder / "DATA").mkdir()
    for side in ("en", "de"):
        lines = (folder / f"train.{side}").read_text(encoding="utf-8").splitlines(keepends=True)
        for name, count in (("raw", 300), ("text", 100), ("plain", 20), ("DATA/train", 100)):
            (folder / f"{name}.{side}").write_text("".join(lines[:count]), encoding="utf-8")
        for name in ("valid", "test"):
            shutil.copy(folder / f"{name}.{side}", folder / f"DATA/{name}.{side}")
    pairs = zip(*((folder / f"train.{side}").read_text(encoding="utf-8").splitlines() for side in ("en", "de")))
    (folder / "raw.tsv.gz").write_bytes(gzip.compress("".join(f"{source}\t{target}\n" for source, target in pairs).encode()))
    for name in ("en-de", "big"):
        shutil.copytree(folder / "my-model/model", folder / name / "model", dirs_exist_ok=True)
    random_models.reverse_of(folder / "my-model/model", folder / "de-en/model")
    shutil.rmtree(folder / "tuned", ignore_errors=True)  # of the page of training
    recipe = (folder / "my.toml").read_text(encoding="utf-8")
    (folder / "en-de.toml").write_text(recipe, encoding="utf-8")
    (folder / "recipes").mkdir()
    (folder / "recipes/multi30k-en-de-student.toml").write_text(recipe, encoding="utf-8")
    for command in commands("docs/small_models.md"):
        run(folder, command.replace("--max-updates 1000", "--max-updates 2"))
    assert (folder / "clean.tsv.gz").exists() and (folder / "report.md").exists() and (folder / "student/shortlist.safetensors").exists()
    assert len((folder / "en-de/back.0").read_text(encoding="utf-8").splitlines()) == 20
    assert (folder / "en-de/run/model/config.json").exists() and (folder / "tuned-int8/config.json").exists()


def test_the_page_of_python(folder):
    package = package_of_python()
    (folder / "my-parser/model").mkdir(parents=True)
    random_models.write_parser(folder / "my-parser/model")
    (folder / "page.html").write_text("<p>lumi <b>tavo</b></p>\n", encoding="utf-8")
    tones = tiny_run.write_recordings(folder, "tones", 10, 1)
    shutil.copy(folder / "tones/1.wav", folder / "call.wav")
    run(folder, f"build/attend train --task transcription --train-recordings {tones} --valid-recordings {tones} --vocab-type char --vocab-size 20 "
                "--encoder.layers 1 --decoder.layers 1 --max-updates 1 --validate-every 1 --batch-tokens 500 --output my-transcriber")
    # A test that has a model of another toolkit runs the block of that.
    code = "\n".join(block for block in blocks("python", "docs/python.md") if "attend.convert" not in block)
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=ENVIRONMENT | {"PYTHONPATH": str(package)},
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\(4, 4, \d+, \d+\)$", done.stdout, re.MULTILINE), done.stdout
    assert done.stdout.endswith("torch.Size([1, 1, 150])\n"), done.stdout


def test_the_page_of_cpp_shows_programs_that_are_compiled():
    examples = [path.read_text(encoding="utf-8") for path in (ROOT / "tests/consumer").glob("*.cc")]
    shown = blocks("cpp", "docs/cpp.md")
    assert len(shown) == 7 and all(program in examples for program in shown)


def test_the_service(folder):
    if not shutil.which("curl"):
        pytest.skip("no curl")
    serve = next(block for block in blocks("bash", "docs/serving.md") if "attend serve" in block).strip()
    with subprocess.Popen(["bash", "-c", f"exec {serve} --port 0"], cwd=folder, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as server:
        try:
            port = next(json.loads(line)["port"] for line in server.stderr if '"listening"' in line)
            address = f"http://127.0.0.1:{port}"
            calls = next(block for block in blocks("bash", "docs/serving.md") if "curl" in block).replace("http://127.0.0.1:5000", address)
            native, libre = re.split(r"\n(?=curl)", calls.strip())
            sentences = json.loads(run(folder, f"{native} --silent --fail"))["translations"][0]["sentences"]
            assert [len(sentence["hypotheses"]) for sentence in sentences] == [3, 3] and "alignment" in sentences[0]["hypotheses"][0]
            assert "translatedText" in json.loads(run(folder, libre.replace("curl ", "curl --silent --fail ")))
            assert "<title>attend" in run(folder, f"curl --silent --fail {address}/")
        finally:
            server.terminate()


def test_the_make_commands_exist():
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M)
    named = re.findall(r"\bmake ([a-z][\w-]*)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert {"demo", "test"} <= set(named) <= set(targets) | {"a"}
