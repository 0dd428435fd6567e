"""Makes the golden models under tests/data: make_golden_model.py WRITE_GOLDEN_MODEL OUTPUT_FOLDER

Run once for each format version; what it wrote is kept for ever. Vocabularies come from invented
text, weights from a random generator, samples from the NumPy model in f64.
"""
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import sentencepiece

from numpy_transformer import Model

KA_WORDS = "lumi tavo keri sona mipa rudu vesta olin paku neri dosa ilvo".split()
SU_WORDS = "brant ödel fisk grau holm jarn kvist løft myrr noord prax smelt".split()
SOURCES = ["lumi tavo keri", "sona mipa, rudu vesta!", "olin", "paku neri dosa ilvo lumi tavo keri sona mipa rudu vesta",
           "neri neri neri", "tavo ✓ unbekannt 42", "Dosa? Ilvo."]


def text(words, seed):
    generator = random.Random(seed)
    for _ in range(400):
        sentence = [generator.choice(words) for _ in range(generator.randint(2, 9))]
        yield " ".join(sentence) + generator.choice([".", "?", "!", ", " + generator.choice(words)])


def train_vocabulary(sentences, size, path):
    with open(path, "wb") as file:
        sentencepiece.SentencePieceTrainer.Train(
            sentence_iterator=iter(sentences), model_writer=file, vocab_size=size, model_type="unigram",
            normalization_rule_name="identity", pad_id=0, unk_id=1, bos_id=2, eos_id=3,
            num_threads=1, minloglevel=3)
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def make(writer, kind, source_path, target_path, output):
    source, target = (sentencepiece.SentencePieceProcessor(model_file=str(path)) for path in (source_path, target_path))
    write = [writer, kind, str(source_path), str(target_path), str(output)]
    subprocess.run(write, check=True)
    model = Model(output)
    generator = np.random.default_rng(1)
    samples = []
    for line in SOURCES:
        source_ids = source.encode(line) + [source.eos_id()]
        target_ids = model.draw(source_ids, 14, generator)
        samples.append(model.sample(line, source_ids, target.decode(target_ids[:-1]), target_ids))
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(samples, file)
        file.flush()
        subprocess.run(write + [file.name], check=True)


def main():
    writer, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        temporary = pathlib.Path(temporary)
        joint, source, target = (temporary / name for name in ("joint.spm", "source.spm", "target.spm"))
        train_vocabulary(itertools.chain(text(KA_WORDS, 1), text(SU_WORDS, 2)), 52, joint)
        train_vocabulary(text(KA_WORDS, 1), 34, source)
        train_vocabulary(text(SU_WORDS, 2), 36, target)
        make(writer, "paper", joint, joint, folder / "golden_v1")
        make(writer, "variant", source, target, folder / "golden_v1_variant")


if __name__ == "__main__":
    main()
