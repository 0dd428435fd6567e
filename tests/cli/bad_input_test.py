"""Bad input for every command: a clear error each, with the status that design promises, and nothing lost."""

import gzip
import pathlib
import shutil
import subprocess

import pytest
from programs import ATTEND, attend, commands, refused

HERE = commands()


@pytest.fixture(name="files")
def make_files(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "empty").write_bytes(b"")
    (folder / "binary").write_bytes(bytes(range(256)) * 64)
    (folder / "cyrillic").write_bytes("Привет, мир\n".encode("cp1251") * 20)
    (folder / "text").write_text("one line\nanother line\n" * 50, encoding="utf-8")
    (folder / "short").write_text("one line\n" * 99, encoding="utf-8")
    (folder / "links").write_text("0-0 1-2\n\n1?1 2-2\n", encoding="utf-8")
    (folder / "line").write_text("one line\n", encoding="utf-8")
    (folder / "lists").write_text("0 ||| eine Zeile ||| -1.5\n0 ||| Zeile ||| -2\n", encoding="utf-8")
    (folder / "predicted").write_text("0-0 1-1\n0-1\n2-2\n", encoding="utf-8")
    (folder / "bad_links").write_text("0-0\n0-0 1-1 2:2\n0-0\n", encoding="utf-8")
    table = "food\tfresh bread\nsport\ta long race\n" * 20
    (folder / "little.tsv").write_bytes(b"\xff\xfe" + table.encode("utf-16-le"))
    (folder / "big.tsv").write_bytes(b"\xfe\xff" + table.encode("utf-16-be"))
    (folder / "packed.tsv").write_bytes(gzip.compress(table.encode()))
    (folder / "folder").mkdir()
    return folder


# command, arguments ({F} is the folder of files, {G} a good model, {L} a language model, {P} one with learned positions, {M} a masked one, {T} a tagger, {C} a classifier), exit status, what the message names
CASES = [
    ("vocab", "--input {F}/gone --output {F}/v.spm", 3, "{F}/gone"),
    ("vocab", "--input {F}/folder --output {F}/v.spm", 3, "{F}/folder"),
    ("vocab", "--input {F}/empty --output {F}/v.spm", 3, "no text"),
    ("vocab", "--input {F}/gone --output {F}/nowhere/v.spm", 1, "{F}/nowhere"),
    ("vocab", "--input {F}/text --size 15 --output {F}/folder", 1, "{F}/folder"),
    ("vocab", "--input {F}/text --size 1 --output {F}/v.spm", 2, "--size"),
    ("vocab", "--input {F}/text --type wordpiece --output {F}/v.spm", 2, "unigram, bpe"),
    ("vocab", "--input {F}/text", 2, "--output"),
    ("vocab", "--input - - --output {F}/v.spm", 2, "given twice"),
    ("tag", "{F}/text", 2, "--model"),
    ("tag", "{F}/text --model {G}", 2, "attend translate"),
    ("tag", "{F}/text --model {F}/gone", 3, "{F}/gone"),
    ("tag", "{F}/text --model {C}", 2, "attend classify"),
    ("tag", "{F}/gone --model {T}", 3, "{F}/gone"),
    ("tag", "hello --model {T}", 3, "a text itself goes through standard input"),
    ("tag", "{F}/cyrillic --model {T}", 3, "{F}/cyrillic: 180 of 220 characters so far are malformed UTF-8"),
    ("tag", "- - --model {T}", 2, "given twice"),
    ("tag", "{F}/text --model {T} --word-column 2", 2, "leave it out"),
    ("tag", "{F}/gone --model {T} --columns", 3, "{F}/gone"),
    ("tag", "- - --model {T} --columns", 2, "given twice"),
    ("tag", "{F}/text --model {T} --columns --words", 2, "leave it out"),
    ("tag", "{F}/text --model {T} --columns --json", 2, "attend tag: json is not for --columns; leave it out"),
    ("tag", "{F}/text --model {T} --columns --word-column 9", 2, "word_column is 9, but {F}/text has 2 columns"),
    ("tag", "{F}/little.tsv --model {T} --columns", 3, "'{F}/little.tsv' is UTF-16 text; convert it: iconv"),
    ("tag", "{F}/packed.tsv --model {T} --columns", 3, "'{F}/packed.tsv' is a gzip file; its name must end in .gz"),
    ("evaluate", "--metrics accuracy --hypothesis {F}/text --reference {F}/big.tsv", 3, "'{F}/big.tsv' is UTF-16 text; convert it: iconv"),
    ("evaluate", "--metrics accuracy --hypothesis {F}/packed.tsv --reference {F}/text", 3, "'{F}/packed.tsv' is a gzip file"),
    ("evaluate", "--metrics entity --hypothesis {F}/big.tsv --reference {F}/text", 3, "'{F}/big.tsv' is UTF-16 text"),
    ("train", "--quiet --task classification --train-table {F}/little.tsv --vocab-size 15 --output {F}/run", 3, "'{F}/little.tsv' is UTF-16 text; convert it: iconv"),
    ("train", "--quiet --task classification --train-table {F}/big.tsv --vocab-size 15 --output {F}/run", 3, "'{F}/big.tsv' is UTF-16 text"),
    ("train", "--quiet --task classification --train-table {F}/packed.tsv --vocab-size 15 --output {F}/run", 3, "'{F}/packed.tsv' is a gzip file; its name must end in .gz"),
    ("train", "--quiet --task tagging --train-columns {F}/little.tsv --vocab-size 15 --output {F}/run", 3, "'{F}/little.tsv' is UTF-16 text"),
    ("parse", "{F}/text --model {T}", 2, "attend tag"),
    ("parse", "{F}/gone --model {T}", 2, "attend tag"),
    ("parse", "{F}/text", 2, "--model"),
    ("classify", "{F}/text --model {L}", 2, "attend generate"),
    ("classify", "{F}/text --model {G} --top 0", 2, "--top"),
    ("classify", "{F}/text", 2, "--model"),
    ("classify", "{F}/text --model {T}", 2, "attend tag"),
    ("classify", "{F}/text --model {F}/gone", 3, "{F}/gone"),
    ("classify", "{F}/gone --model {C}", 3, "{F}/gone"),
    ("classify", "{F}/folder --model {C}", 3, "{F}/folder"),
    ("classify", "- - --model {C}", 2, "given twice"),
    ("health", "--address nowhere", 2, "address is 'nowhere', expected a name or an address and a port"),
    ("health", "--address [::1]:0x1", 2, "127.0.0.1:5000 or [::1]:5000"),
    ("health", "--timeout 0", 2, "--timeout"),
    ("transcribe", "{F}/text --model {C}", 2, "attend classify"),
    ("transcribe", "{F}/text", 2, "--model"),
    ("transcribe", "{F}/text --model {F}/gone", 3, "{F}/gone"),
    ("fill", "[MASK]", 2, "--model"),
    ("fill", "[MASK] --model {F}/gone", 3, "{F}/gone"),
    ("fill", "[MASK] --model {T}", 2, "attend tag"),
    ("fill", "{F}/text --model {M}", 3, "; --input reads a file"),
    ("fill", "[MASK] --model {G}", 2, "attend translate"),
    ("fill", "[MASK] --model {M} --top 0", 2, "--top"),
    ("fill", "[MASK] --model {M} --input {F}/text", 2, "leave out one"),
    ("fill", "house --model {M}", 3, "has no [MASK]"),
    ("fill", "--input {F}/gone --model {M}", 3, "{F}/gone"),
    ("fill", "--input {F}/text --model {M}", 3, "{F}/text:1: a text has no [MASK]"),
    ("embed", "{F}/text", 2, "--model"),
    ("embed", "{F}/text --model {G}", 2, "attend translate"),
    ("embed", "{F}/text --model {F}/gone", 3, "{F}/gone"),
    ("embed", "{F}/gone --model {M}", 3, "{F}/gone"),
    ("embed", "- - --model {M}", 2, "given twice"),
    ("embed", "{F}/text --model {M} --pooling tokens", 2, "first, mean"),
    ("embed", "{F}/text --model {M} --output {F}/gone/v.npy", 1, "{F}/gone"),
    ("embed", "{F}/text --model {M} --output {F}/folder", 1, "{F}/folder"),
    ("embed", "{F}/text {F}/gone --model {M} --output {F}/v.npy", 3, "{F}/gone"),
    ("evaluate", "--hypothesis {F}/gone --reference {F}/text", 3, "{F}/gone"),
    ("evaluate", "--hypothesis {F}/text --reference {F}/gone", 3, "{F}/gone"),
    ("evaluate", "--hypothesis {F}/text --reference {F}/folder", 3, "{F}/folder"),
    ("evaluate", "--hypothesis {F}/text --reference {F}/short", 3, "99"),
    ("evaluate", "--hypothesis {F}/empty --reference {F}/empty", 3, "{F}/empty"),
    ("evaluate", "--hypothesis {F}/text --reference {F}/text --metrics blue", 2, "did you mean 'bleu'"),
    ("evaluate", "--hypothesis {F}/text --reference {F}/text --tokenize 14a", 2, "13a"),
    ("evaluate", "--hypothesis {F}/text", 2, "--reference"),
    ("evaluate", "--hypothesis {F}/text --reference - --baseline -", 2, "given twice"),
    ("evaluate", "--metrics aer --hypothesis {F}/bad_links --reference {F}/links", 3, "{F}/bad_links:2: '2:2' is no alignment link"),
    ("evaluate", "--metrics aer --hypothesis {F}/predicted --reference {F}/bad_links", 3, "{F}/bad_links:2: '2:2'"),
    ("evaluate", "--metrics aer --hypothesis {F}/predicted --reference {F}/links --baseline {F}/bad_links", 3, "{F}/bad_links:2: '2:2'"),
    ("evaluate", "--metrics aer --hypothesis {F}/links --reference {F}/links", 3, "{F}/links:3: link 1-1 is marked as possible"),
    ("evaluate", "--metrics aer --hypothesis {F}/predicted --reference {F}/short", 3, "{F}/predicted has 3 lines and {F}/short has 99"),
    ("evaluate", "--metrics aer --hypothesis {F}/predicted --reference {F}/links {F}/links", 2, "one --reference"),
    ("evaluate", "--metrics aer,bleu --hypothesis {F}/predicted --reference {F}/links", 2, "ask for it alone"),
    ("bench", "translate --model {G} --input {F}/gone", 3, "{F}/gone"),
    ("bench", "translate --model {G} --input {F}/empty", 3, "{F}/empty"),
    ("bench", "translate --model {G} --preset tiny", 2, "preset"),
    ("bench", "--threads 1 train", 2, "expected translate, generate, encode, transcribe, train, layers as the first argument"),
    ("bench", "layers --kind lstmm", 2, "expected one of attention, windowed_attention"),
    ("bench", "layers --lengths 1", 2, "2 to 1048576"),
    ("bench", "generate --preset bert-tiny --vocab-size 50", 2, "the model's task is masked_language_model"),
    ("bench", "encode --preset gpt-char --vocab-size 50", 2, "expected a model of an encoder alone"),
    ("bench", "encode --model {G} --vocab-size 9", 2, "--vocab-size is for random weights"),
    ("bench", "translate --preset tinny", 2, "did you mean 'tiny'"),
    ("bench", "translate --preset tiny --input {F}/text", 2, "--model"),
    ("bench", "translate --preset tiny --type int4", 2, "int4"),
    ("bench", "translate --preset tiny --sentences 0", 2, "--sentences"),
    ("extend", "{F}/gone --token x --output {F}/e", 3, "{F}/gone"),
    ("extend", "{G} --token x", 2, "--output"),
    ("extend", "{G} --tokens {F}/gone --output {F}/e", 3, "{F}/gone"),
    ("extend", "{G} --tokens {F}/text --output {F}/e", 2, "'one line' has white space"),
    ("extend", "{F}/gone --token xyzzy --output {F}/text", 2, "'{F}/text' exists"),  # before the model is read
    ("quantize", "{F}/gone --output {F}/q", 3, "{F}/gone"),
    ("quantize", "{G}", 2, "--output"),
    ("quantize", "{F}/gone --output {F}/text", 2, "'{F}/text' exists"),
    ("quantize", "{G} --output {F}/q --type int4", 2, "int8"),
    ("shortlist", "--model {G} --source {F}/text --target {F}/short --output {F}/s", 3, "{F}/short"),
    ("shortlist", "--model {G} --source {F}/gone --target {F}/text --output {F}/s", 3, "{F}/gone"),
    ("shortlist", "--model {G} --source {F}/empty --target {F}/empty --output {F}/s", 3, "no lines"),
    ("shortlist", "--model {G} --source {F}/text --target {F}/text", 2, "--output"),
    ("align", "--source {F}/text --target {F}/short --output {F}/links", 3, "{F}/short"),
    ("align", "--source {F}/gone --target {F}/text --output {F}/links", 3, "{F}/gone"),
    ("align", "--source {F}/text --target {F}/text --output {F}/folder", 1, "{F}/folder"),
    ("align", "--source {F}/text --target {F}/text", 2, "--output"),
    ("annotate", "--source {F}/text --target {F}/text --output {F}/out", 2, "--links and --glossary"),
    ("annotate", "--source {F}/text --target {F}/text --links {F}/text --output {F}/out", 3, "{F}/text:1"),
    ("annotate", "--source {F}/text --target {F}/text --glossary {F}/gone --output {F}/out", 3, "{F}/gone"),
    ("clean", "--source {F}/text --target {F}/short --output {F}/a {F}/b", 3, "{F}/short"),
    ("clean", "--source {F}/gone --output {F}/a", 3, "{F}/gone"),
    ("clean", "--source {F}/text --output {F}/folder", 1, "{F}/folder"),
    ("clean", "--source - --target - --output {F}/a {F}/b", 2, "given twice"),
    ("clean", "--source {F}/text --output {F}/text", 2, "{F}/text' is read already"),
    ("clean", "--source {F}/text --output {F}/a.bz2", 2, "--output is '{F}/a.bz2', and .bz2 files are not written"),
    ("clean", "--source {F}/text --output {F}/a --dropped {F}/b.xz", 2, "--dropped is '{F}/b.xz'"),
    ("clean", "--pairs {F}/little.tsv --output {F}/a", 3, "UTF-16 text"),
    ("clean", "--source {F}/text --output {F}/a --numbers", 2, "numbers is of pairs; give --target"),
    ("clean", "--source {F}/text --output {F}/a --min-length 9 --max-length 5", 2, "min_length is 9, above the max_length of 5"),
    ("clean", "--source {F}/text --output {F}/a --type int8", 2, "type is of models; give --model"),
    ("clean", "--source {F}/text --output {F}/a --duplicates either", 2, "duplicates of targets are of pairs"),
    ("distill", "--teacher {G} --recipe {F}/gone --output {F}/out", 3, "{F}/gone"),
    ("back-translate", "--model {G} --text {F}/text --recipe {F}/text --output {F}/out", 2, "{F}/text:1"),
    ("translate", "--model {G} --input {F}/text --shortlist {F}/binary", 3, "{F}/binary"),
    ("translate", "--model {G} --input {F}/text --shortlist {G}/model.safetensors", 3, "not a shortlist"),
    ("serve", "--model {F}/gone", 3, "{F}/gone"),
    ("serve", "--port 0", 2, "--model"),
    ("serve", "--model {G} {G} --port 0", 2, "two models are named 'ka-su'"),
    ("serve", "--model {G} --host nowhere", 2, "expected an address"),
    ("serve", "--model {G} --port 65536", 2, "--port"),
    ("serve", "--model {G} --port 0 --api-keys {F}/gone", 3, "{F}/gone"),
    ("serve", "--model {G} --port 0 --api-keys {F}/empty", 3, "no API key"),
    ("serve", "--model {G} --port 0 --beam-size 17", 2, "max_beam_size"),
    ("serve", "--model {G} --port 0 --max-sentences 5000", 2, "queue_sentences"),
    ("inspect", "{F}/gone", 3, "{F}/gone"),
    ("inspect", "{F}/text", 3, "{F}/text"),
    ("inspect", "{F}/folder", 3, "config.json"),
    ("train", "--quiet --output {F}/run", 2, "train_source and train_target are needed, or objective = denoising with train_text"),
    ("train", "--quiet --train-source {F}/text --train-target {F}/text --vocab-size 15", 2, "output"),
    ("train", "--quiet --train-source {F}/gone --train-target {F}/text --vocab-size 15 --output {F}/run", 3, "{F}/gone"),
    ("train", "--quiet --train-source {F}/text --train-target {F}/short --vocab-size 15 --output {F}/run", 3, "99"),
    ("train", "--quiet --train-source {F}/text --train-target - --vocab-size 15 --output {F}/run", 2, "train_target is '-', expected a file"),
    ("train", "--quiet --train-source {F}/text --train-target {F}/text --vocab-size 15 --output {F}/new/run --dropout 2", 2, "dropout"),
    ("train", "--quiet --train-source {F}/text --train-target {F}/text --vocab-size 1 --output {F}/new/run", 2, "size is 1"),
    ("train", "--quiet --train-source {F}/text --train-target {F}/text --vocab {F}/binary --output {F}/run", 3, "{F}/binary"),
    ("train", "--quiet --train-source {F}/text --train-target {F}/text --vocab-size 15 --output {F}/text", 1, "{F}/text"),
    ("train", "--quiet --train-source {F}/text --train-target {F}/text --preset tinny --output {F}/run", 2, "did you mean 'tiny'"),
    ("train", "--quiet --train-source {F}/text --train-target {F}/text --vocab-size 15 --dry-run --test-source {F}/gone --test-target {F}/text", 3, "{F}/gone"),
    ("train", "--quiet --train-source {F}/text --train-target {F}/text --vocab-size 15 --dry-run --encoder.d-ff 1048576 --encoder.d-model 1048576 --decoder.d-model 1048576", 1, "can't make a model of"),
    ("train", "--quiet --train-source {F}/text --train-target {F}/text --init {F}/gone --output {F}/run", 3, "{F}/gone"),
    ("train", "--quiet --task language_model --preset gpt-char --mask-tokens 0.2 --output {F}/run", 2, "option '--mask-tokens'; it is an option of task masked_language_model"),
    ("train", "--quiet --task classification --crf --output {F}/run", 2, "option '--crf'; it is an option of task tagging"),
    ("generate", "word --model {G}", 2, "run it with `attend translate`"),
    ("generate", "word --model {F}/gone", 3, "{F}/gone"),
    ("generate", "word", 2, "--model"),
    ("generate", "word --model {L} --input {F}/text", 2, "leave out one"),
    ("generate", "--model {L} --input {F}/gone", 3, "{F}/gone"),
    ("generate", "word --model {L} --top-p 1.5", 2, "--top-p"),
    ("generate", "word --model {L} --temperature 1e-40", 2, "temperature is 1e-40, expected 0 (always the likeliest token) or at least 0.01"),
    ("generate", "word --model {L} --n 2 --temperature 0", 2, "raise temperature or beam_size"),
    ("generate", "word --model {L} --seed 9 --beam-size 2", 2, "seed is not for beam search"),
    ("generate", "word --model {L} --length-penalty 1", 2, "length_penalty is of beam search"),
    ("generate", "word --model {L} --n 3 --beam-size 2", 2, "beam size"),
    ("translate", "--model {L} --input {F}/text", 2, "run it with `attend generate`"),
    ("score", "--model {L} --source {F}/text --target {F}/text", 2, "give --input"),
    ("score", "--model {L}", 2, "--input is missing"),
    ("score", "--model {L} --input {F}/text --device cpu", 2, "device is not for this model"),
    ("score", "--model {G} --source {F}/text --target {F}/text --device cpu --type int8", 2, "type int8 is for device engine"),
    ("score", "--model {C} --input {F}/text", 2, "expected translation or language_model; run it with `attend classify`"),
    ("score", "--model {L} --input {F}/text --window 4 --stride 5", 2, "stride is 5"),
    ("score", "--model {P} --input {F}/text --stride 99", 2, "stride is 99, above the window of"),
    ("score", "--model {G} --input {F}/text", 2, "give --source and --target"),
    ("score", "--model {G} --source {F}/text", 2, "--target is missing"),
    ("score", "--model {G} --source {F}/text --target {F}/text --alignment-layer 1", 2, "alignment_layer is given without alignments"),
    ("score", "--model {G} --source {F}/text --target {F}/text --alignment-layer 99 --alignments", 2, "alignment_layer is 99, expected 1 to 2"),
    ("translate", "--model {G} --input {F}/gone", 3, "{F}/gone"),
    ("translate", "--model {G} --input {F}/text --glossary {F}/gone", 3, "{F}/gone"),
    ("translate", "--model {G} --input {F}/text --glossary {F}/text", 3, "expected 2 or 3: source, target and flags"),
    ("translate", "--model {G} --input {F}/folder", 3, "{F}/folder"),
    ("translate", "--model {G} --input {F}/text --output {F}/gone/out", 1, "{F}/gone/out"),
    ("translate", "--model {G} --input {F}/text --output {F}/out.bz2", 2, "expected .gz, .zst"),
    ("translate", "--model {G} --input {F}/text --beam-size 2 --n-best 3", 2, "n_best"),
    ("translate", "--input {F}/text", 2, "--model"),
    ("translate", "--model {G} {L} --input {F}/text", 2, "model 2 has the task language_model, expected translation"),
    ("translate", "--model {G} --memory-threshold 50 --input {F}/text", 2, "memory_threshold is of memory; give memory, too"),
    ("translate-file", "{G} {F}/text a.tsv --memory-exact", 2, "memory_exact is of memory; give memory, too"),
    ("inspect", "{L} --flops --source-length 8", 2, "the model reads its text in the decoder; give --target-length"),
    ("translate", "--model {G} --mbr-samples 4 --input {F}/text", 2, "mbr_samples is of mbr; give mbr, too"),
    ("translate", "--model {G} --sample --mbr-samples 4 --input {F}/text", 2, "mbr_samples is of mbr"),
    ("translate", "--model {G} --alignment-layer 2 --input {F}/text", 2, "alignment_layer is of alignments; give alignments, too"),
    ("translate", "--model {G} --diversity 2 --input {F}/text", 2, "diversity is of groups of a beam; give beam_groups, too"),
    ("translate", "--model {G} --sample --beam-size 4 --input {F}/text", 2, "beam_size is for beam search"),
    ("translate", "--model {G} --sample --beam-threshold 2 --input {F}/text", 2, "beam_threshold is for beam search"),
    ("rerank", "--input {F}/lists --source {F}/gone --model {G} --weights 1 1 0", 3, "{F}/gone"),
    ("rerank", "--input {F}/gone --source {F}/line --model {G} --weights 1 1 0", 3, "{F}/gone"),
    ("rerank", "--input {F}/text --source {F}/line --model {G} --weights 1 1 0", 3, "{F}/text:1: 'one line', expected number ||| text"),
    ("rerank", "--input {F}/lists --source {F}/line --model {G} --weights 1 1 0 --output {F}/gone/out", 1, "{F}/gone"),
    ("rerank", "--input {F}/lists --source {F}/line --model {G} --tune {F}/text", 3, "--tune has 100 lines and the input 1 lists"),
    ("translate", "--model {G} --input {F}/text --alignments --alignment-layer 3", 2, "expected 1 to 2"),
    ("score", "--model {G} --source {F}/text --target {F}/short", 3, "{F}/short"),
    ("score", "--model {G} --source - --target -", 2, "given twice"),
    ("score", "--model {G} --source {F}/text --target {F}/text --alignments --alignment-layer 3", 2, "expected 1 to 2"),
    ("score", "--model {G} --source {F}/gone --target {F}/text", 3, "{F}/gone"),
    ("attention", "--model {G} --source word --output {F}/gone/a.svg", 1, "{F}/gone"),
    ("attention", "--model {G} --source word --output {F}/a.png", 2, "svg"),
    ("attention", "--model {G} --source word --layer 9 --output {F}/a.svg", 2, "expected 1 to 2"),
    ("attention", "--model {T} --source word --target word --output {F}/a.svg", 2, "leave out --target"),
    ("attention", "--model {M} --source word --kind cross --output {F}/a.svg", 2, "encoder"),
    ("verify", "{F}/gone", 3, "{F}/gone"),
    ("export", "--checkpoint {F}/gone --output {F}/model", 3, "{F}/gone"),
    ("export", "--checkpoint {F}/folder --output {F}/model", 3, "{F}/folder"),
    ("export", "--checkpoint {F}/gone --output {F}/text", 2, "'{F}/text' exists"),
    ("export", "--adapter {F}/gone --model {F}/gone --output {F}/text", 2, "'{F}/text' exists"),
    ("export", "--adapter {F}/gone --model {G} --threads 2 --output {F}/model", 2, "--threads is for --checkpoint"),
    ("export", "--checkpoint {F}/folder", 2, "--output"),
    ("export", "--output {F}/model", 2, "--checkpoint is missing"),
    ("export", "--checkpoint {F}/folder --verify --output {F}/model", 2, "--verify is for --format transformers or ctranslate2; leave it out"),
    ("export", "--model {G} --output {F}/model", 2, "--model is for --adapter, or for --format transformers or ctranslate2; add one"),
    ("export", "--format transformers --output {F}/model", 2, "--model is missing"),
    ("export", "--format ctranslate2 --model {G} --checkpoint {F}/folder --output {F}/model", 2, "not for --format ctranslate2; leave it out"),
    ("export", "--format hf --model {G} --output {F}/model", 2, "expected one of attend, transformers, ctranslate2"),
]

# Each command that reads a model directory, at {M}; `score` and the like get text at {F}.
MODEL_COMMANDS = {
    "inspect": "{M}",
    "verify": "{M}",
    "translate": "--model {M} --input {F}/text",
    "bench": "translate --model {M}",
    "generate": "word --model {M}",
    "tag": "{F}/text --model {M}",
    "classify": "{F}/text --model {M}",
    "parse": "{F}/text --model {M}",
    "transcribe": "{F}/text --model {M}",
    "fill": "[MASK] --model {M}",
    "embed": "{F}/text --model {M}",
    "rerank": "--model {M} --input {F}/lists --source {F}/line --weights 1 1 0",
    "score": "--model {M} --source {F}/text --target {F}/text",
    "attention": "--model {M} --source word --output {F}/attention.svg",
    "extend": "{M} --token x --output {F}/extended",
    "quantize": "{M} --output {F}/quantized",
    "serve": "--model {M} --port 0",
    "clean": "--source {F}/text --target {F}/text --output {F}/a {F}/b --model {M} --reverse-model {M} --min-score 0.1",
    "shortlist": "--model {M} --source {F}/text --target {F}/text --output {F}/shortlist",
}
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "data/golden_v1"


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case[:2]))
def test_bad_input_is_refused(case, files, language_model, learned_positions, encoders):
    command, arguments, status, part = case
    if command not in HERE:
        pytest.skip(f"this build has no attend {command}")
    before = sorted(files.rglob("*"))
    models = {"G": GOLDEN, "L": language_model, "P": learned_positions, "M": encoders["masked_language_model"], "T": encoders["tagging"], "C": encoders["classification"]}
    done = attend(command, *arguments.format(F=files, **models).split())
    refused(done, status, part.format(F=files))
    assert sorted(files.rglob("*")) == before


@pytest.mark.parametrize("damage", ["missing", "empty", "half", "a folder"])
@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.spm"])
@pytest.mark.parametrize("command", MODEL_COMMANDS)
def test_a_damaged_model_is_refused(command, name, damage, files, tmp_path):
    if command not in HERE:
        pytest.skip(f"this build has no attend {command}")
    model = tmp_path / "model"
    shutil.copytree(GOLDEN, model)
    content = (model / name).read_bytes()
    (model / name).unlink()
    if damage == "a folder":
        (model / name).mkdir()
    elif damage != "missing":
        (model / name).write_bytes(content[: len(content) // 2] if damage == "half" else b"")
    done = attend(command, *MODEL_COMMANDS[command].format(M=model, F=files).split())
    refused(done, 3, model / name)


def test_a_command_that_is_not_installed_says_how_to_get_it(tmp_path):
    lonely = tmp_path / "attend"
    shutil.copy(ATTEND, lonely)
    done = subprocess.run([lonely, "train"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "attend-train" in done.stderr and done.stderr.count("\n") == 1


def test_a_closed_pipe_ends_quietly(tmp_path):
    if "translate" not in HERE:
        pytest.skip("this build has no attend translate")
    text = tmp_path / "text"
    text.write_text("the small house\n" * 20000, encoding="utf-8")
    with open(text, encoding="utf-8") as lines, subprocess.Popen(
        [ATTEND, "translate", "--model", GOLDEN, "--quiet"], stdin=lines, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout.readline().endswith(b"\n")
        running.stdout.close()
        assert running.stderr.read() == b""
        running.wait(timeout=60)


def test_translations_that_do_not_fit_on_the_disk_are_an_error(files):
    if "translate" not in HERE:
        pytest.skip("this build has no attend translate")
    refused(attend("translate", "--model", GOLDEN, "--input", files / "short", "--output", "/dev/full"), 1, "/dev/full")
