"""attend.convert of CTranslate2's models: what is refused, vocabularies, positions, the command."""

import json
import random
import re
import shutil
import struct

import attend
import numpy as np
import pytest
from package import import_here

attend.convert = pytest.importorskip("attend.convert")
ctranslate2 = pytest.importorskip("ctranslate2", reason="the peer is missing: pip install -r tools/requirements_tests.txt")
from attend.convert import _ctranslate2, _ctranslate2_weights, _sinusoids, _vocabulary  # noqa: E402
from ctranslate2_models import (  # noqa: E402
    OPENNMT_SOURCE, OPENNMT_TARGET, WIDTH, WORDS, opennmt, save, sinusoids, text, translation_model, values_of, variable,
    write_file)


@pytest.fixture(name="small", scope="module")
def small_model(tmp_path_factory):
    return save(opennmt(), tmp_path_factory.mktemp("small") / "ctranslate2")


@pytest.fixture(name="refused")
def refused_model(small, tmp_path):
    """Checks that the small model is refused after `change(folder)`, with this in the error."""
    def check(part, change):
        folder = tmp_path / "changed"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(small, folder)
        change(folder)
        with pytest.raises(attend.InputError, match=re.escape(part)) as error:
            attend.convert.convert(folder, tmp_path / "out")
        assert str(folder) in str(error.value) and "\n" not in str(error.value)
        assert not (tmp_path / "out").exists()

    return check


def test_a_file_that_is_cut_is_refused(small, tmp_path):
    whole = (small / "model.bin").read_bytes()
    path = tmp_path / "model.bin"
    places = [*range(200), *random.Random(1).sample(range(200, len(whole)), 200), len(whole) - 1]
    for size in places:
        path.write_bytes(whole[:size])
        with pytest.raises(attend.InputError, match=f"{path}: .* is cut short"):
            _ctranslate2.read_model(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(attend.InputError, match="1 bytes follow the last variable"):
        _ctranslate2.read_model(path)


def test_damaged_files_are_refused_or_read(small, tmp_path):
    """Nothing but an InputError ever comes of them."""
    whole, numbers = (small / "model.bin").read_bytes(), random.Random(2)
    shutil.copytree(small, tmp_path / "damaged")
    starts = [match.start() for match in re.finditer(rb"(en|de)coder/", whole)]  # names, and what stands around them
    refused = 0
    for _ in range(150):
        content = bytearray(whole)
        at = numbers.choice(starts) + numbers.randint(-8, 60)
        content[at] = numbers.choice([0, 1, 0x7F, 0xFF, content[at] ^ 1 << numbers.randint(0, 7)])
        (tmp_path / "damaged/model.bin").write_bytes(content)
        try:
            _ctranslate2._convert(tmp_path / "damaged")
        except attend.InputError as error:
            assert str(tmp_path / "damaged") in str(error)
            refused += 1
    assert refused > 50


def edit(**changes):
    """What changes these variables of model.bin; None takes one out."""
    def change(folder):
        values, aliases = values_of(opennmt())
        values |= {name.replace("__", "/"): value for name, value in changes.items()}
        values = {name: value for name, value in values.items() if value is not None}
        write_file(folder / "model.bin", 6, values, aliases=aliases)

    return change


WEIGHT = np.zeros((WIDTH, WIDTH), np.float32)
INT8 = np.ones((len(OPENNMT_TARGET), WIDTH), np.int8)
QUERIES = "decoder__layer_1__self_attention__linear_0__weight"


@pytest.mark.parametrize(("part", "change"), [
    ("variable 'decoder/layer_0/self_attention/rotary_dim' is one that attend lacks",
     edit(decoder__layer_0__self_attention__rotary_dim=np.int32(8))),
    ("variable 'encoder/layer_0/self_attention/relative_position_keys' is one that attend lacks",
     edit(encoder__layer_0__self_attention__relative_position_keys=WEIGHT)),
    ("variable 'decoder/layer_0/self_attention/num_heads_kv' is one", edit(decoder__layer_0__self_attention__num_heads_kv=np.int32(1))),
    ("variable 'decoder/scale_outputs' is one that attend lacks", edit(decoder__scale_outputs=np.float32(2))),
    ("variable 'encoder/embeddings_1/weight' is one that attend lacks", edit(encoder__embeddings_1__weight=WEIGHT)),
    ("decoder/alibi is not 0, which attend lacks", edit(decoder__alibi=np.int8(1))),
    ("encoder/multi_query_attention is not 0, which attend lacks", edit(encoder__multi_query_attention=np.int8(1))),
    ("'encoder/layer_1/ffn/layer_norm' has no beta: it is an RMS norm", edit(encoder__layer_1__ffn__layer_norm__beta=None)),
    ("decoder/activation is 5, which attend lacks; expected 0 (relu)", edit(decoder__activation=np.int8(5))),
    ("encoder/scale_embeddings is 3.0, which attend lacks; expected 1 or 5.656854", edit(encoder__scale_embeddings=np.float32(3))),
    ("encoder/num_heads is 5, expected a divisor of the width 32", edit(encoder__num_heads=np.int16(5))),
    ("encoder/num_heads is 0, expected a divisor", edit(encoder__num_heads=np.int16(0))),
    ("'encoder/num_heads' is [1, 2], expected one number", edit(encoder__num_heads=np.array([1, 2], np.int16))),
    ("variable 'decoder/projection/weight' is missing", edit(decoder__projection__weight=None)),
    (f"variable '{QUERIES.replace('__', '/')}' has shape [32, 32], expected [96, 32]", edit(**{QUERIES: WEIGHT})),
    (f"variable '{QUERIES.replace('__', '/')}' is int32, expected floats", edit(**{QUERIES: np.zeros((96, 32), np.int32)})),
    ("tensor 'encoder/layer_norm/beta' is one that attend lacks a place for", edit(encoder__pre_norm=np.int8(0))),
    ("there are 2 of encoder/layer_0, layer_1 ..., expected one at least and no gap", edit(**{
        **{name.replace("/", "__"): None for name in values_of(opennmt())[0] if name.startswith("encoder/layer_0/")},
        "encoder__layer_2__ffn__linear_0__weight": WEIGHT})),
    ("variable 'decoder/embeddings/weight_scale' is missing, but 'decoder/embeddings/weight' is int8", edit(
        decoder__embeddings__weight=INT8)),
    ("'decoder/embeddings/weight_scale' has shape [3], expected [25] or one number", edit(
        decoder__embeddings__weight=INT8, decoder__embeddings__weight_scale=np.ones(3, np.float32))),
    ("'decoder/embeddings/weight_scale' has a scale that is 0 or not finite", edit(
        decoder__embeddings__weight=INT8, decoder__embeddings__weight_scale=np.zeros(len(INT8), np.float32))),
    ("25 tokens, expected 32, the rows of 'decoder/embeddings/weight'", edit(decoder__embeddings__weight=WEIGHT)),
])
def test_variables_that_attend_lacks_are_named(refused, part, change):
    refused(part, change)


def header(version=6, specification="TransformerSpec", revision=7, rest=b""):
    content = struct.pack("<I", version) + text(specification) + struct.pack("<I", revision) + rest
    return lambda folder: (folder / "model.bin").write_bytes(content)


def one_variable(rank, sizes, kind, size, data=b""):
    shape = struct.pack(f"<B{len(sizes)}I", rank, *sizes)
    return header(rest=struct.pack("<I", 1) + text("x") + shape + struct.pack("<BI", kind, size) + data)


@pytest.mark.parametrize(("part", "change"), [
    ("version 7 of CTranslate2's files, expected 2 to 6", header(version=7)),
    ("version 1 of CTranslate2's files, expected 2 to 6", header(version=1)),
    ("the specification is 'WhisperSpec', which attend lacks", header(specification="WhisperSpec", rest=bytes(8))),
    ("revision 9 of TransformerSpec, expected at most 7", header(revision=9, rest=bytes(8))),
    ("the specification is no UTF-8 text", lambda folder: (folder / "model.bin").write_bytes(b"\6\0\0\0\2\0\xff\0" + bytes(12))),
    ("variable 'x' has 4294967280 bytes, but the file ends after 0 of them", one_variable(1, [0xFFFFFFF0], 1, 0xFFFFFFF0)),
    ("variable 'x' has 8 bytes, expected float32 of shape [4294967295, 4294967295]", one_variable(2, [0xFFFFFFFF] * 2, 0, 8, bytes(8))),
    ("variable 'x' has 0 bytes, expected float32 of shape [0, 4294967295]", one_variable(2, [0, 0xFFFFFFFF], 0, 0)),
    ("variable 'x' has 200 dimensions, expected at most 8", one_variable(200, [1] * 200, 0, 4, bytes(4))),
    ("variable 'x' has the type 9, which attend lacks", one_variable(0, [], 9, 4, bytes(4))),
    ("the number of variables has 4 bytes, but the file ends after 0", header()),
    ("'a' is an alias of 'b', which is missing", header(rest=struct.pack("<II", 0, 1) + text("a") + text("b"))),
    ("a variable's name has 65535 bytes", header(rest=struct.pack("<IH", 1, 0xFFFF))),
    ("variable 'x' stands twice", header(rest=struct.pack("<I", 2) + variable("x", np.float32([1]), 6) * 2)),
])
def test_files_that_make_no_sense_are_refused(refused, part, change):
    refused(part, change)


def rewrite(name, content):
    def change(folder):
        path = folder / name
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())

    return change


def settings(**changes):
    def change(folder):
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        (folder / "config.json").write_text(json.dumps(config | changes), encoding="utf-8")

    return change


TARGET = "target_vocabulary.json"
PIECES = [*OPENNMT_TARGET[:3], *("▁" + word for word in OPENNMT_TARGET[3:])]
OTHER_MODEL = _vocabulary.of_words(["<unk>", "</s>", *"abcd"], {"pad": -1, "unk": 0, "bos": -1, "eos": 1}, set())


@pytest.mark.parametrize(("part", "change"), [
    ("config.json: add_source_bos is true, which attend lacks", settings(add_source_bos=True)),
    ("config.json: decoder_start_token is null, expected str", settings(decoder_start_token=None)),
    ('config.json: decoder_start_token is "</s>" and add_source_eos is false', settings(decoder_start_token="</s>", add_source_eos=False)),
    ("config.json: layer_norm_epsilon is 0.0, expected 1e-12 to 1", settings(layer_norm_epsilon=0.0)),
    ("config.json: quantization_type is 1, which attend lacks", settings(quantization_type=1)),
    ("config.json: lang_ids is a key that attend lacks", settings(lang_ids=[1])),
    ("config.json: unk_token is 7, expected str", settings(unk_token=7)),
    ("config.json: not JSON", rewrite("config.json", b"{")),
    ("config.json'", rewrite("config.json", None)),
    (f"{TARGET}: \"</s>\" is missing, which ends a text", rewrite(TARGET, ["<unk>"] + [str(i) for i in range(23)])),
    (f"{TARGET}: 27 tokens, expected 25", rewrite(TARGET, [*OPENNMT_TARGET, "a", "b"])),
    (f"{TARGET}: \"only\" stands twice", rewrite(TARGET, [*OPENNMT_TARGET[:-1], "only"])),
    (f"{TARGET}: a token holds half a character", rewrite(TARGET, [*OPENNMT_TARGET[:-1], "\ud800"])),
    (f"{TARGET}: expected a JSON list of texts", rewrite(TARGET, {"a": 1})),
    (f"{TARGET}: expected a JSON list of texts", rewrite(TARGET, [*OPENNMT_TARGET[:-1], 7])),
    ("has no source_vocabulary.json or source_vocabulary.txt", rewrite("source_vocabulary.json", None)),
    (f"{TARGET}: its tokens are SentencePiece's, but", rewrite(TARGET, PIECES)),
    ("a.model: not a SentencePiece model", rewrite("a.model", b"nothing")),
    ("has a.model, b.spm, expected one SentencePiece model", lambda folder: [(folder / name).touch() for name in ("a.model", "b.spm")]),
    ("is it another model's?", rewrite("a.model", OTHER_MODEL)),
])
def test_settings_and_vocabularies_that_make_no_sense_are_refused(refused, part, change):
    refused(part, change)


def test_text_files_are_vocabularies_too(small, tmp_path):
    """Each line is a token, whatever it holds; CR goes where all lines have it."""
    for end in ("\n", "\r\n"):
        folder, output = tmp_path / f"ctranslate2_{len(end)}", tmp_path / f"model_{len(end)}"
        shutil.copytree(small, folder)
        for side, tokens in (("source", OPENNMT_SOURCE), ("target", OPENNMT_TARGET)):
            tokens = tokens[:-1] + ["a\u2028b"] if side == "target" else tokens[:-1]  # <unk> is added
            (folder / f"{side}_vocabulary.json").unlink()
            (folder / f"{side}_vocabulary.txt").write_bytes("".join(token + end for token in tokens).encode())
        attend.convert.convert(folder, output)
        assert attend.Translator(output).target_vocabulary.piece(len(OPENNMT_TARGET) - 1) == "▁a\u2028b"
        assert _ctranslate2.compare(str(folder), str(output)) < 5e-5


def test_special_tokens_get_the_ids_of_the_smaller_vocabulary(small, tmp_path):
    attend.convert.convert(small, tmp_path / "model")
    translator = attend.Translator(tmp_path / "model")
    smaller, other = translator.source_vocabulary, translator.target_vocabulary
    assert len(OPENNMT_SOURCE) < len(OPENNMT_TARGET) and smaller.unk == other.unk == OPENNMT_SOURCE.index("<unk>")
    assert smaller.eos == other.eos == 2 and other.encode(OPENNMT_TARGET[smaller.unk]) == [0]
    assert smaller.encode(" ".join(WORDS)) == [OPENNMT_SOURCE.index(word) for word in WORDS]


def test_one_sentencepiece_model_cuts_both_sides(tmp_path):
    tokens = ["<unk>", "</s>", "<s>", *("▁" + word for word in reversed(WORDS))]
    folder = save(translation_model({}, tokens, tokens), tmp_path / "ctranslate2")
    with pytest.raises(attend.InputError, match="shared_vocabulary.json: its tokens are SentencePiece's"):
        attend.convert.convert(folder, tmp_path / "model")
    pieces = _vocabulary.of_words(["<unk>", "</s>", *WORDS], {"pad": -1, "unk": 0, "bos": -1, "eos": 1}, {"</s>"})
    (folder / "sentencepiece.model").write_bytes(pieces)
    attend.convert.convert(folder, tmp_path / "model")
    translator = attend.Translator(tmp_path / "model")
    for vocabulary in (translator.source_vocabulary, translator.target_vocabulary):
        assert vocabulary.encode(" ".join(WORDS)) == [tokens.index("▁" + word) for word in WORDS]
        assert vocabulary.piece(3) == tokens[3]
    assert _ctranslate2.compare(str(folder), str(tmp_path / "model")) < 5e-5


def test_packages_of_argos(tmp_path):
    """The model stands in a folder of its own, and what cuts text above it; the encoder reads no eos."""
    tokens = ["<unk>", "<s>", "</s>", *("▁" + word for word in WORDS)]
    spec = translation_model({}, tokens, tokens)
    spec.config.add_source_eos = False
    package = tmp_path / "en_de"
    save(spec, package / "model")
    (package / "metadata.json").write_text(json.dumps({"from_code": "en", "to_code": "de", "package_version": "1.0"}), encoding="utf-8")
    pieces = _vocabulary.of_words(["<unk>", "</s>", *WORDS], {"pad": -1, "unk": 0, "bos": -1, "eos": 1}, {"</s>"})
    (package / "sentencepiece.model").write_bytes(pieces)
    converted = attend.convert.convert(package, tmp_path / "model")
    assert converted.model["languages"] == ["en", "de"] and not converted.model["source_eos"]
    assert _ctranslate2.compare(str(package), str(tmp_path / "model")) < 5e-5
    (package / "metadata.json").write_text(json.dumps({"from_code": "en", "to_code": "de", "target_prefix": "__de__"}), encoding="utf-8")
    with pytest.raises(attend.InputError, match='metadata.json: target_prefix is "__de__", which attend lacks'):
        attend.convert.convert(package, tmp_path / "out")


def test_the_source_may_lack_the_start_token(tmp_path):
    """Then a word of it has the id, and stays a word. It may lack eos, too, if its encoder reads none."""
    spec = translation_model({}, ["<unk>", *WORDS], ["<unk>", "<s>", "</s>", *WORDS])
    spec.config.add_source_eos = False
    attend.convert.convert(save(spec, tmp_path / "without_eos"), tmp_path / "without")
    assert attend.Translator(tmp_path / "without").source_vocabulary.encode(" ".join(WORDS)) == list(range(1, len(WORDS) + 1))
    assert _ctranslate2.compare(str(tmp_path / "without_eos"), str(tmp_path / "without")) < 5e-5
    spec = translation_model({}, ["</s>", "<unk>", *WORDS], ["</s>", "<unk>", "<s>", *WORDS])
    attend.convert.convert(save(spec, tmp_path / "ctranslate2"), tmp_path / "model")
    assert attend.Translator(tmp_path / "model").source_vocabulary.encode(" ".join(WORDS)) == list(range(2, len(WORDS) + 2))
    assert _ctranslate2.compare(str(tmp_path / "ctranslate2"), str(tmp_path / "model")) < 5e-5
    spec = translation_model({}, ["</s>", "<unk>"], ["</s>", "<unk>", *WORDS, "<s>"])
    with pytest.raises(attend.InputError, match="target_vocabulary.json: <s> has the id 22, expected one below 2"):
        attend.convert.convert(save(spec, tmp_path / "apart"), tmp_path / "out")


def test_tokens_between_spaces(tmp_path):
    tokens = ["</s>", *WORDS, "<s>", "<unk>", "￭", "\u00a0", "\u3000", "a\u200db", ">>de<<", "<newline>", "é", "e\u0301"]
    ids = {"pad": -1, "unk": tokens.index("<unk>"), "bos": tokens.index("<s>"), "eos": 0}
    (tmp_path / "words.spm").write_bytes(_vocabulary.of_words(tokens, ids, {"</s>", "<s>", "<unk>"}))
    vocabulary = attend.Vocabulary(tmp_path / "words.spm")
    plain = [i for i in range(len(tokens)) if i not in ids.values()]
    line = " ".join(tokens[i] for i in plain)
    assert vocabulary.type == "word" and vocabulary.encode(line) == plain and vocabulary.decode(plain) == line
    assert vocabulary.encode("  lumi   </s> <s> nothing tavo ") == [1, *[ids["unk"]] * 3, 2]
    assert (vocabulary.pad, vocabulary.unk, vocabulary.bos, vocabulary.eos) == tuple(ids[name] for name in ("pad", "unk", "bos", "eos"))


@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16"])
def test_sinusoids_are_recognised(kind):
    for convention in ("interleaved", "halves", "timing_signal"):
        for offset in (0, 1, 2):
            for rows in (1, 7, 512):
                table = sinusoids(convention, offset, rows)
                if kind == "bfloat16":
                    table = ((table.view(np.uint32) + 0x8000) & 0xFFFF0000).view(np.float32)
                table = table.astype("float16" if kind == "float16" else "float32").astype(np.float32)
                rounding = _ctranslate2_weights.ROUNDING.get(kind, 0)
                found = _sinusoids.recognise_sinusoids(table, rounding)
                assert found == (convention, offset) or (rows == 1 and offset == 0 and found == ("halves", 0))
                table[-1, 3] += 4e-3
                assert _sinusoids.recognise_sinusoids(table, rounding) is None


def test_sinusoids_that_were_made_in_f32():
    rows, rates = 5000, np.exp(np.arange(0, 64, 2, dtype=np.float32) * np.float32(-np.log(10000.0) / 64))
    angles = np.arange(rows, dtype=np.float32)[:, None] * rates
    table = np.stack([np.sin(angles), np.cos(angles)], 2).reshape(rows, 64)
    assert _sinusoids.recognise_sinusoids(table, 0) == ("interleaved", 0)


def test_the_command(small, tmp_path, capsys):
    assert import_here(small, tmp_path / "model", verify=True) == 0
    found, wrote, named, verified = capsys.readouterr().out.splitlines()
    assert "a model of CTranslate2" in found and "2 + 2 layers, 32 wide" in wrote and "4 samples agree within" in verified
    assert named.startswith("named no languages")
    (small / "vmap.txt").write_text("", encoding="utf-8")
    assert import_here(small, tmp_path / "other") == 0
    assert "left out vmap.txt" in capsys.readouterr().out
    (small / "vmap.txt").unlink()
    assert import_here(tmp_path, tmp_path / "none") == 3
    assert "no model that can be imported" in capsys.readouterr().err
