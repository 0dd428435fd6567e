"""attend.convert of CTranslate2's models against ctranslate2 itself: ids of greedy and beam search, and log-probabilities."""

import json
import os
import pathlib
import random

import attend
import numpy as np
import pytest
from package import program

attend.convert = pytest.importorskip("attend.convert")
ctranslate2 = pytest.importorskip("ctranslate2", reason="the peer is missing: pip install -r tools/requirements_tests.txt")
from attend.convert import _ctranslate2  # noqa: E402
from ctranslate2_models import (  # noqa: E402
    INNER, WIDTH, WORDS, fairseq, language_model, learned, marian, opennmt, save, values_of, without_bias, write_file)

DATA = pathlib.Path(os.environ.get("ATTEND_DATA", "none")) / "ct2-models"
LENGTH = 40
NO_PENALTY = 1e-9  # with 0 CTranslate2 has another rule of when to end
def opennmt_without_eos():
    spec = opennmt()
    spec.config.add_source_eos = False
    return spec


KINDS = {
    "opennmt": (opennmt, None), "opennmt_without_eos": (opennmt_without_eos, None), "opennmt_int8": (opennmt, "int8"),
    "opennmt_float16": (opennmt, "float16"), "opennmt_bfloat16": (opennmt, "bfloat16"), "fairseq": (fairseq, None),
    "fairseq_int8": (fairseq, "int8"), "marian": (marian, "int16"), "learned": (learned, None),
    "learned_float16": (learned, "int8_float16"), "without_bias": (without_bias, "int8_float32")}
EXPECTED = {
    "opennmt": {"position_convention": "timing_signal", "position_offset": 1, "norm_place": "pre", "activation": "relu"},
    "fairseq": {"position_convention": "timing_signal", "position_offset": 2, "norm_place": "post", "activation": "gelu"},
    "marian": {"position_convention": "halves", "position_offset": 0, "embedding_norm": True, "activation": "silu"},
    "learned": {"positions": "learned", "max_positions": 70, "norm_epsilon": 1e-3, "scale_embedding": False, "activation": "geglu_tanh"},
    "without_bias": {"positions": "none", "attention_bias": False, "feed_forward_bias": False, "activation": "swiglu"}}


@pytest.fixture(name="imported", scope="module", params=KINDS)
def imported_model(request, tmp_path_factory):
    make, quantization = KINDS[request.param]
    source = save(make(), tmp_path_factory.mktemp("ctranslate2") / request.param, quantization)
    output = tmp_path_factory.mktemp("attend") / "model"
    return source, output, attend.convert.convert(source, output)


def sentences(words, count=60):
    numbers = random.Random(9)
    return [" ".join(numbers.choice(words) for _ in range(numbers.randint(1, 12))) for _ in range(count)]


def check_outputs(source, output, texts, tokenize=str.split, different=5):
    """Equal ids and log-probabilities of greedy and beam search."""
    tokens = _ctranslate2._read(source).vocabularies[-1].tokens
    peer, ours = ctranslate2.Translator(str(source), compute_type="float32", intra_threads=1), attend.Translator(output, threads=1)
    read = [tokenize(text) for text in texts]
    for beam_size in (1, 4):
        theirs = peer.translate_batch(read, beam_size=beam_size, length_penalty=NO_PENALTY, max_decoding_length=LENGTH)
        found = ours.translate(texts, beam_size=beam_size, length_penalty=0, max_length=LENGTH, split_sentences="never")
        hypotheses = [one.hypotheses[0] for one in theirs]
        assert len({tuple(one.ids) for one in found}) > different and sum(one.finished for one in found) > 10
        assert [one.ids for one in found] == [[tokens.index(token) for token in hypothesis] for hypothesis in hypotheses]
        # Its search has probabilities without the empty output's; those of score_batch are the model's.
        scores = [one.log_probs[:len(mine.ids) + mine.finished] for one, mine in zip(peer.score_batch(read, hypotheses), found)]
        np.testing.assert_allclose([one.log_probability for one in found], [sum(score) for score in scores], atol=1e-4, rtol=1e-5)


def test_outputs_are_ctranslate2s(imported):
    source, output, converted = imported
    check_outputs(source, output, sentences([*WORDS, "unknown", "</s>x"]))
    expected = EXPECTED[source.name.split("_")[0] if source.name != "without_bias" else source.name]
    assert expected.items() <= converted.model["decoder"].items() and converted.model["source_eos"] != source.name.endswith("without_eos")
    tied = source.name.startswith("fairseq")
    assert converted.model["tie_source_target"] == converted.model["tie_target_output"] == tied
    program("verify", output)  # which succeeds
    assert _ctranslate2.compare(str(source), str(output)) < 5e-5


@pytest.mark.parametrize("quantization", [None, "int8", "int16", "float16"])
def test_marianmt_converted(quantization, tmp_path, marianmt):
    """Its converter leaves eos to who calls it."""
    converter = ctranslate2.converters.TransformersConverter(str(marianmt), copy_files=["source.spm", "target.spm"])
    source = pathlib.Path(converter.convert(str(tmp_path / "ctranslate2"), quantization=quantization))
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    assert not config["add_source_eos"]
    converted = attend.convert.convert(source, tmp_path / "model")
    assert converted.model["decoder"]["position_convention"] == "halves" and converted.model["special_ids"]["bos"] == -1
    assert converted.left_out == (["the rounding of sines and cosines: attend makes them in f32"] if quantization == "float16" else [])
    assert _ctranslate2.compare(str(source), str(tmp_path / "model")) < converted.tolerance
    if quantization == "float16":
        return
    import transformers

    tokenizer = transformers.MarianTokenizer.from_pretrained(marianmt)
    texts = marian_sentences(40, 9)
    check_outputs(source, tmp_path / "model", texts, lambda text: tokenizer.convert_ids_to_tokens(tokenizer.encode(text)), different=3)


def marian_sentences(count, seed):
    return pytest.importorskip("convert_marian_test").sentences(count, seed)


@pytest.fixture(name="marianmt", scope="module")
def marianmt_model(tmp_path_factory):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    pytest.importorskip("sentencepiece")
    folder = tmp_path_factory.mktemp("marian") / "opus"
    folder.mkdir()
    size = pytest.importorskip("convert_marian_test").write_vocabularies(folder)
    torch.manual_seed(3)
    model = transformers.MarianMTModel(transformers.MarianConfig(
        vocab_size=size, pad_token_id=size - 1, decoder_start_token_id=size - 1, eos_token_id=0, forced_eos_token_id=0, d_model=WIDTH,
        encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=INNER,
        decoder_ffn_dim=INNER, activation_function="swish", scale_embedding=True, max_position_embeddings=128)).eval()
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "embed_positions" not in name:
                value.copy_(torch.randn_like(value) * (0.2 if "shared" in name else 0.3) + (1 if "norm.weight" in name else 0))
        tokens = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        model.final_logits_bias[0, 0], model.final_logits_bias[0, 1], model.final_logits_bias[0, tokens["▁"]] = 2, -30, -30
        model.model.shared.weight[-1] = 0
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("quantization", [None, "int8"])
def test_language_models(quantization, tmp_path):
    source = save(language_model(), tmp_path / "ctranslate2", quantization)
    converted = attend.convert.convert(source, tmp_path / "model")
    assert converted.model["task"] == "language_model" and converted.model["decoder"]["position_offset"] == 1
    assert _ctranslate2.compare(str(source), str(tmp_path / "model")) < 5e-5
    peer, ours = ctranslate2.Generator(str(source), compute_type="float32"), attend.Generator(tmp_path / "model")
    for prompt in sentences(WORDS, 20):
        theirs = peer.generate_batch([["<s>", *prompt.split()]], max_length=20, include_prompt_in_result=False, sampling_topk=1)
        assert ours.generate(prompt, max_tokens=20, temperature=0, allow_unknown=True).ids == theirs[0].sequences_ids[0]


def real(name):
    if not (DATA / name).exists():
        pytest.skip(f"ATTEND_DATA has no ct2-models/{name}")
    return DATA / name


def test_a_real_language_model(tmp_path):
    """Its vocabulary lacks <s>, so that texts begin with <unk>, in CTranslate2 too; its sines and cosines are float16."""
    source = real("lm-opennmt-py")
    converted = attend.convert.convert(source, tmp_path / "model")
    assert converted.model["special_ids"] == {"pad": -1, "unk": 0, "bos": 0, "eos": 2} and converted.left_out
    assert 1e-5 < _ctranslate2.compare(str(source), str(tmp_path / "model")) < 1e-3
    theirs = ctranslate2.Generator(str(source), compute_type="float32").generate_batch(
        [["<s>", "the"]], max_length=8, sampling_topk=1, disable_unk=True, include_prompt_in_result=False)
    ours = attend.Generator(tmp_path / "model").generate("the", max_tokens=8, temperature=0)
    assert ours.split() == theirs[0].sequences[0] == "picture entered into one or already bought it".split()


@pytest.mark.parametrize("version", [2, 3, 4, 5])
@pytest.mark.parametrize("quantization", [None, "int8", "int16"])
def test_old_layouts(version, quantization, tmp_path):
    """With the settings in model.bin, as CTranslate2 reads them; the oldest have them once for both stacks."""
    source = save(opennmt(), tmp_path / "ctranslate2")
    values, _ = values_of(opennmt(), quantization)
    (source / "config.json").unlink()
    values |= {"with_source_eos": np.int8(1), "with_target_bos": np.int8(version > 3)}  # eos starts the outputs of the oldest
    if version == 5:
        values["unk_token"] = np.frombuffer(b"<unk>", np.int8)
    if version < 4:
        values["encoder/embeddings/weight"] = values.pop("encoder/embeddings_0/weight")
        if quantization:
            values["encoder/embeddings/weight_scale"] = values.pop("encoder/embeddings_0/weight_scale")
        for name in ("num_heads", "pre_norm", "activation"):
            del values[f"encoder/{name}"]
            values[name] = values.pop(f"decoder/{name}")
    write_file(source / "model.bin", version, values, revision=4 if version < 4 else 6)
    converted = attend.convert.convert(source, tmp_path / "model")
    assert converted.model["special_ids"]["bos"] == (1 if version > 3 else 2)
    check_outputs(source, tmp_path / "model", sentences(WORDS, 30))


def test_integers_of_old_files_without_a_scale(tmp_path):
    source = save(opennmt(), tmp_path / "ctranslate2")
    values, _ = values_of(opennmt())
    for name in [name for name in values if name.endswith("weight")]:
        values[name] = np.rint(values[name] * 1000).astype(np.int16)
    write_file(source / "model.bin", 6, values)
    attend.convert.convert(source, tmp_path / "model")
    assert _ctranslate2.compare(str(source), str(tmp_path / "model")) < 5e-5


@pytest.mark.parametrize("name", ["aren-transliteration", "aren-transliteration-i16", "aren-transliteration-i8"])
def test_a_real_model_of_the_oldest_layout(name, tmp_path):
    """Its encoder reads no eos."""
    source = real(f"v2/{name}")
    converted = attend.convert.convert(source, tmp_path / "model")
    assert converted.model["encoder"]["heads"] == 8 and converted.model["encoder"]["layers"] == 6
    assert not converted.model["source_eos"]
    letters = (source / "source_vocabulary.txt").read_text(encoding="utf-8").split()[3:40]
    check_outputs(source, tmp_path / "model", ["آ ت ز م و ن", *sentences(letters)])
    program("verify", tmp_path / "model")
    mean = attend.Translator(tmp_path / "model").score("آ ت ز م و ن", "a t z m o n").token_log_probabilities
    assert abs(np.mean(mean) + 0.15167) < 5e-3  # by CTranslate2's documentation of these files
    assert _ctranslate2.compare(str(source), str(tmp_path / "model")) < 1e-4
    cross = attend.Translator(tmp_path / "model").attention("آ ت ز").cross
    assert cross.shape[-1] == 3  # no eos
