"""attend.convert.export to CTranslate2, against ctranslate2 itself: ids of greedy and beam search, log-probabilities, and the way back."""

import json

import attend
import numpy as np
import pytest
import torch
from directories import IDS, SHAPE, ending, pieces, same_bits, sentences, translation, vocabulary, write
from package import program

attend.convert = pytest.importorskip("attend.convert")
ctranslate2 = pytest.importorskip("ctranslate2", reason="the peer is missing: pip install -r tools/requirements_tests.txt")
from attend.convert._source import model, stack  # noqa: E402
from attend.convert._target import read_directory  # noqa: E402
from attend.convert._vocabulary import with_tokens  # noqa: E402

TEXTS = sentences(40, 9)
LENGTH = 30
NO_PENALTY = 1e-9  # with 0 CTranslate2 has another rule of when to end
# The stacks, and the model.
KINDS = {
    "usual": ({"attention_bias": True}, {}),
    "pre_norm_silu": ({"norm_place": "pre", "activation": "silu", "position_convention": "timing_signal", "position_offset": 1}, {}),
    "gated_learned": (
        {"activation": "geglu_tanh", "positions": "learned", "max_positions": 70, "scale_embedding": False, "norm_epsilon": 1e-3},
        {"tie_target_output": False}),
    "embedding_norm": ({"embedding_norm": True, "activation": "gelu", "positions": "none"}, {"source_eos": False}),
    "without_bias": ({"attention_bias": False, "feed_forward_bias": False, "activation": "swiglu", "position_convention": "halves"}, {}),
    "zero_start": ({"position_convention": "halves"}, {"special_ids": {"pad": -1, "unk": 1, "bos": -1, "eos": 0}}),
    "separate": ({}, {"tie_source_target": False, "tie_target_output": False}),
}


@pytest.fixture(name="exported", scope="module", params=KINDS)
def exported_model(request, tmp_path_factory):
    name = request.param
    folder, (fields, more) = tmp_path_factory.mktemp(name), KINDS[name]
    source = vocabulary(folder)
    if "special_ids" in more:
        tokens = ["</s>", "<unk>", *(token for token in pieces(source, folder)[::-1] if not token.startswith("<"))]
        source = with_tokens(source, tokens, more["special_ids"])
    target = vocabulary(folder, seed=2, size=120) if name == "separate" else source
    config = translation(
        len(pieces(source, folder)), fields, {"layers": 1, "d_ff": 40}, **({"target_vocab_size": len(pieces(target, folder))} | more))
    directory = write(folder / "model", config, source, target, change=lambda tensors: ending(tensors, config["special_ids"]))
    attend.convert.export(directory, folder / "ctranslate2", format="ctranslate2", positions=100)
    return directory, folder / "ctranslate2", config


@pytest.mark.parametrize("beam_size", [1, 4])
def test_outputs_and_scores(exported, beam_size):
    directory, output, _ = exported
    ours, peer = attend.Translator(directory, threads=1), ctranslate2.Translator(str(output), compute_type="float32", intra_threads=1)
    read = [[ours.source_vocabulary.piece(i) for i in ours.source_vocabulary.encode(text)] for text in TEXTS]
    found = ours.translate(TEXTS, beam_size=beam_size, length_penalty=0, max_length=LENGTH, split_sentences="never")
    theirs = peer.translate_batch(
        read, beam_size=beam_size, length_penalty=NO_PENALTY, max_decoding_length=LENGTH, return_scores=True, disable_unk=True)
    same = [
        (one.log_probability, other.scores[0]) for one, other in zip(found, theirs)
        if other.hypotheses[0] == [ours.target_vocabulary.piece(i) for i in one.ids]]
    assert len(same) == len(TEXTS) and len({str(one) for one in found}) > 3
    # Its search has probabilities without those of what it forbids, so the model's own are compared.
    hypotheses = [other.hypotheses[0] for other in theirs]
    scores = [one.log_probs[: len(mine.ids) + mine.finished] for one, mine in zip(peer.score_batch(read, hypotheses), found)]
    np.testing.assert_allclose([one.log_probability for one in found], [sum(score) for score in scores], atol=1e-4, rtol=1e-5)


def test_round_trips(exported, tmp_path):
    directory, output, config = exported
    converted = attend.convert.convert(output, tmp_path / "again")
    assert same_bits(directory, tmp_path / "again")
    again = converted.model
    for name in ("encoder", "decoder"):
        assert again[name] | {"max_positions": 0} == config[name] | {"max_positions": 0}
    assert again["special_ids"] == config["special_ids"] | {"pad": -1} and again["source_eos"] == config["source_eos"]


# Of a language model's stack.
LANGUAGE_MODELS = {
    "learned": {"positions": "learned", "max_positions": 60, "activation": "gelu_tanh", "norm_place": "pre", "scale_embedding": False},
    "post_norm": {"activation": "gelu"}, "gated": {"activation": "swiglu", "norm_place": "pre", "attention_bias": False}}


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_language_models(name, tmp_path):
    config = model(
        task="language_model", target_vocab_size=110, special_ids=IDS, head_bias=True, decoder=stack(**(SHAPE | LANGUAGE_MODELS[name])))
    directory = write(tmp_path / "model", config, vocabulary(tmp_path), change=lambda tensors: ending(tensors, IDS))
    attend.convert.export(directory, tmp_path / "ctranslate2", format="ctranslate2", positions=100)
    ours, peer = attend.Generator(directory), ctranslate2.Generator(str(tmp_path / "ctranslate2"), compute_type="float32")
    for text in TEXTS:
        tokens = ["<s>", *(ours.vocabulary.piece(i) for i in ours.vocabulary.encode(text))]
        theirs = peer.generate_batch([tokens], max_length=12, include_prompt_in_result=False, sampling_topk=1, disable_unk=True)[0]
        assert ours.generate(text, max_tokens=12, temperature=0).ids == theirs.sequences_ids[0]
        scores = peer.score_batch([[*tokens, "</s>"]])[0].log_probs
        np.testing.assert_allclose(ours.score(text).token_log_probabilities, scores, atol=1e-4)
    attend.convert.convert(tmp_path / "ctranslate2", tmp_path / "again")
    assert same_bits(directory, tmp_path / "again")


def test_int8_weights_are_read_with_their_scales(exported, tmp_path):
    program("quantize", exported[0], "--output", tmp_path / "int8")
    plain, int8 = (read_directory(folder).tensors for folder in (exported[0], tmp_path / "int8"))
    assert list(plain) and set(plain) == set(int8)
    for name, tensor in plain.items():
        if tensor.ndim == 1 or "positions" in name:
            assert np.array_equal(int8[name], tensor), name
        else:  # the largest sum of two neighbours takes 127 steps of its row
            step = np.abs(tensor).reshape(len(tensor), -1, 2).sum(axis=2).max(axis=1, keepdims=True) / 127
            error = np.abs(int8[name] - tensor) / step
            assert 0.4 < error.max() <= 0.501, name


@pytest.mark.parametrize(("change", "part"), [
    ({"recurrence": "ssru"}, r'decoder\.recurrence is "ssru", which CTranslate2 lacks; expected "none"'),
    ({"norm_epsilon": 1e-3}, r"decoder\.norm_epsilon is 0\.001, which CTranslate2 lacks; expected 1e-06, as the encoder has it"),
    ({"attention_window": 8}, r"decoder\.attention_window is 8, which CTranslate2 lacks; expected 0"),
    ({"d_k": 4}, r"decoder\.d_k is 4, which CTranslate2 lacks; expected d_model / heads"),
])
def test_what_ctranslate2_lacks_is_named(change, part, tmp_path):
    directory = write(tmp_path / "model", translation(110, {}, change), vocabulary(tmp_path))
    with pytest.raises(attend.InputError, match=part):
        attend.convert.export(directory, tmp_path / "ctranslate2", format="ctranslate2")
    assert not (tmp_path / "ctranslate2").exists()


def test_without_a_vocabulary_ids_are_tokens(tmp_path):
    directory = write(tmp_path / "model", translation(50), b"")
    assert "a tokenizer: the model has no vocabulary" in attend.convert.export(directory, tmp_path / "transformers").left_out
    attend.convert.export(directory, tmp_path / "ctranslate2", format="ctranslate2")
    peer = ctranslate2.Translator(str(tmp_path / "ctranslate2"), compute_type="float32")
    score = peer.score_batch([["7", "8"]], [["9", "10"]])[0].log_probs
    found = attend.torch.load(directory)(torch.tensor([[7, 8, IDS["eos"]]]), torch.tensor([[IDS["bos"], 9, 10]])).log_softmax(-1)[0]
    np.testing.assert_allclose(score, [found[i, token].item() for i, token in enumerate((9, 10, IDS["eos"]))], atol=1e-4)


def test_encoders_alone_are_refused(tmp_path):
    config = model(
        task="masked_language_model", source_vocab_size=110, target_vocab_size=110, special_ids=IDS, encoder=stack(**SHAPE), decoder=None)
    directory = write(tmp_path / "model", config, vocabulary(tmp_path, "--mask"))
    with pytest.raises(attend.InputError, match="no model that attend writes for ctranslate2; it writes models of text: models with a decoder"):
        attend.convert.export(directory, tmp_path / "ctranslate2", format="ctranslate2")
    assert json.loads((directory / "config.json").read_text(encoding="utf-8"))["model"]["task"] == "masked_language_model"
